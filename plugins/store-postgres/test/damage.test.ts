import type { TaskRecord } from '@hansard/events';
import { randomFrom } from '@hansard/testing';
import { useServer } from '@hansard/testing/postgres-in-tests';
import { dispatchId, envelope, growingEvents, idsOf, notice, taskDir } from '@hansard/testing/store-samples';
import { describe, expect, it } from 'vitest';
import type { PostgresStore } from '../src/index.ts';
import { codeOf, newStores, type Stores } from './server/stores.ts';

const server = useServer();
const seed = Number(process.env.HANSARD_SEED ?? Math.floor(Math.random() * 1_000_000));
const count = 40;

/** A change of the stored rows, and the positions of the events that it damages: the truth with which the store is compared. */
interface Damage {
  readonly name: string;
  readonly apply: (stores: Stores, at: number) => Promise<unknown>;
  readonly lost: (at: number) => readonly number[];
}

const task = (name: string): TaskRecord => {
  const [project = '', slug = ''] = name.split('/');
  return { slug, name: slug, project, status: 'open', created: '2026-03-01T09:00:00.000Z' };
};

const onRow = 'WHERE position = $1';
const damages: readonly Damage[] = [
  {
    name: 'a changed character',
    apply: (stores, at) =>
      stores.sql(`UPDATE S.events SET line = replace(line, 'agent:text', 'agent:texT') ${onRow}`, [at]),
    lost: (at) => [at],
  },
  {
    name: 'a line that is not JSON',
    apply: (stores, at) => stores.sql(`UPDATE S.events SET line = left(line, 20) ${onRow}`, [at]),
    lost: (at) => [at],
  },
  {
    name: 'a missing row',
    apply: (stores, at) => stores.sql(`DELETE FROM S.events ${onRow}`, [at]),
    lost: (at) => [at],
  },
  {
    name: 'three missing rows',
    apply: (stores, at) => stores.sql('DELETE FROM S.events WHERE position BETWEEN $1 AND $1::int + 2', [at]),
    lost: (at) => [at, at + 1, at + 2],
  },
  {
    name: 'two rows with changed places',
    apply: (stores, at) =>
      stores.sql(
        `WITH pair AS (SELECT position, line FROM S.events WHERE position IN ($1, $1::int + 1))
         UPDATE S.events e SET line = pair.line FROM pair WHERE e.position + pair.position = 2 * $1::int + 1
           AND e.position IN ($1, $1::int + 1)`,
        [at],
      ),
    lost: (at) => [at, at + 1],
  },
];

async function written(stores: Stores): Promise<void> {
  const store = await stores.open();
  await store.createDispatch(taskDir, envelope());
  await store.appendEvents(taskDir, dispatchId, growingEvents(count));
  await store.close();
}

/** What a read in each way answers: the code of its error, or the ids. */
async function readInEachWay(store: PostgresStore): Promise<readonly unknown[]> {
  const pages = [{ after: 9, limit: 5 }, { after: 20, limit: 15 }, { last: 6 }, { limit: count }];
  return Promise.all(
    pages.map(async (options) => {
      try {
        return idsOf((await store.readEvents(taskDir, dispatchId, options)).events);
      } catch (error) {
        return (error as { code?: unknown }).code;
      }
    }),
  );
}

/** The positions that the reads of `readInEachWay` return. */
const ranges = [
  [10, 14],
  [21, 35],
  [count - 6, count - 1],
  [0, count - 1],
] as const;

describe(`damaged rows (HANSARD_SEED=${seed})`, () => {
  it.each(damages)(
    '$name: found by each read that meets it, counted, and usable after an accepted loss',
    async ({ apply, lost }) => {
      const random = randomFrom(seed);
      for (let round = 0; round < 3; round += 1) {
        const stores = newStores(server());
        await written(stores);
        const at = 1 + Math.floor(random() * (count - 4));
        await apply(stores, at);
        const missing = lost(at);
        const whole = idsOf(growingEvents(count)).filter((_, position) => !missing.includes(position));

        const store = await stores.open();
        const found = await store.verifyDispatch(taskDir, dispatchId);
        expect(found).toMatchObject({ integrity: 'checksum', wholeEvents: whole.length });
        const total = found.damages.reduce((sum, { lostEvents }) => sum + (lostEvents ?? 0), 0);
        expect([total, found.damages[0]]).toMatchObject([missing.length, { offset: at, eventsBefore: at }]);

        const all = idsOf(growingEvents(count));
        for (const [index, answer] of (await readInEachWay(store)).entries()) {
          const [first = 0, last = 0] = ranges[index] ?? [];
          const meets = missing.some((position) => position >= first - 1 && position <= last);
          // A page may also refuse because the row before it is damaged; it never returns anything but what was written.
          if (answer === 'STORE_CORRUPT') expect(meets, `${first} to ${last} of ${missing}`).toBe(true);
          else expect(answer).toEqual(all.slice(first, last + 1));
          if (missing.some((position) => position >= first && position <= last))
            expect(answer).toBe('STORE_CORRUPT');
        }
        await expect(store.getDispatchEvents(taskDir, dispatchId)).rejects.toMatchObject({
          code: 'STORE_CORRUPT',
          details: { offset: at, wholeEvents: at },
        });
        expect(idsOf((await store.readEvents(taskDir, dispatchId, { skipDamaged: true })).events)).toEqual(
          whole,
        );

        await store.acceptLoss(taskDir, dispatchId, notice);
        expect(idsOf(await store.getDispatchEvents(taskDir, dispatchId))).toEqual([...whole, 'notice']);
        expect((await store.verifyDispatch(taskDir, dispatchId)).damages).toEqual([]);
        await store.claimDispatch(taskDir, dispatchId);
        await store.appendEvents(taskDir, dispatchId, growingEvents(1, count));
        expect((await store.readEvents(taskDir, dispatchId, { last: 0 })).first).toBe(whole.length + 2);
        // The damaged rows stay.
        const kept = await stores.sql(
          'SELECT FROM S.events JOIN S.accepted_losses ON number = events.dispatch',
        );
        expect(kept.rows.length).toBeGreaterThanOrEqual(count - missing.length);
      }
    },
  );

  it('removed last events, after the dispatch was released', async () => {
    const stores = newStores(server());
    await written(stores);
    await stores.sql('DELETE FROM S.events WHERE position >= 35');
    const store = await stores.open();
    await expect(store.readEvents(taskDir, dispatchId, { last: 1 })).rejects.toMatchObject({
      code: 'STORE_CORRUPT',
      details: { offset: 35, wholeEvents: 35 },
    });
    await store.claimDispatch(taskDir, dispatchId);
    expect(await codeOf(store.appendEvents(taskDir, dispatchId, growingEvents(1, 50)))).toBe('STORE_CORRUPT');
  });

  it('a changed envelope and a changed record: each hides no other', async () => {
    const stores = newStores(server());
    await written(stores);
    const store = await stores.open();
    await store.createDispatch(taskDir, envelope({ dispatchId: 'other' }));
    await store.putTask(taskDir, task(taskDir));
    await store.putTask('other/task', task('other/task'));
    await stores.sql(
      "UPDATE S.dispatches SET envelope = replace(envelope, 'worker', 'Worker') WHERE dispatch_id = $1",
      [dispatchId],
    );
    await stores.sql("UPDATE S.tasks SET record = record || ' ' WHERE task_dir = $1", [taskDir]);
    expect(await codeOf(store.getDispatchEnvelope(taskDir, dispatchId))).toBe('STORE_CORRUPT');
    expect((await store.getDispatchEnvelope(taskDir, 'other'))?.dispatchId).toBe('other');
    expect((await store.verifyDispatch(taskDir, dispatchId)).damages).toMatchObject([
      { place: 'dispatches' },
    ]);
    const tasks = await store.listTasks();
    expect(tasks.map(({ error }) => error?.code)).toEqual([undefined, 'STORE_CORRUPT']);
  });
});
