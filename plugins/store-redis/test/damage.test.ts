import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { randomFrom } from '@hansard/testing';
import { describeWithRedis, useRedis } from '@hansard/testing/redis-in-tests';
import { dispatchId, envelope, growingEvents, idsOf, notice, taskDir } from '@hansard/testing/store-samples';
import { expect, it, onTestFinished } from 'vitest';
import { openRedisStore, type RedisStore } from '../src/index.ts';
import { command, commands } from './server/keys.ts';

const server = useRedis();
const seed = Number(process.env.HANSARD_SEED ?? Math.floor(Math.random() * 1_000_000));
const count = 40;
let prefixes = 0;

type Entry = readonly [id: string, fields: readonly string[]];

/** Replaces the entries of a stream, which no command changes in place. */
async function change(key: string, changed: (entries: readonly Entry[]) => readonly Entry[]): Promise<void> {
  const entries = (await command(server().url(), 'XRANGE', key, '-', '+')) as unknown as readonly Entry[];
  const adds = changed(entries).map(([id, fields]) => ['XADD', key, id, ...fields]);
  await commands(server().url(), [['DEL', key], ...adds]);
}

const onLine = (at: number, edit: (line: string) => string) => (entries: readonly Entry[]) =>
  entries.map(
    ([id, fields], index): Entry =>
      index === at ? [id, [...fields.slice(0, 5), edit(fields[5] ?? '')]] : [id, fields],
  );

/** A change of the entries, and the positions of the events that it damages: the truth with which the store is compared. */
const damages: readonly {
  readonly name: string;
  readonly apply: (at: number) => (entries: readonly Entry[]) => readonly Entry[];
  readonly lost: (at: number) => readonly number[];
}[] = [
  {
    name: 'a changed character',
    apply: (at) => onLine(at, (line) => line.replace('agent:text', 'agent:texT')),
    lost: (at) => [at],
  },
  {
    name: 'a line that is not JSON',
    apply: (at) => onLine(at, (line) => line.slice(0, 20)),
    lost: (at) => [at],
  },
  {
    name: 'a missing entry',
    apply: (at) => (entries) => entries.toSpliced(at, 1),
    lost: (at) => [at],
  },
  {
    name: 'three missing entries',
    apply: (at) => (entries) => entries.toSpliced(at, 3),
    lost: (at) => [at, at + 1, at + 2],
  },
  {
    name: 'two entries with changed places',
    apply: (at) => (entries) =>
      entries.map(([id, fields], index): Entry => {
        const other = index === at ? at + 1 : index === at + 1 ? at : index;
        return [id, [...fields.slice(0, 5), entries[other]?.[1][5] ?? '']];
      }),
    lost: (at) => [at, at + 1],
  },
  {
    name: 'a last entry that is missing',
    apply: () => (entries) => entries.slice(0, -1),
    lost: () => [count - 1],
  },
];

async function written(): Promise<{ readonly store: RedisStore; readonly base: string }> {
  prefixes += 1;
  const prefix = `damage-${prefixes}`;
  const writer = await openRedisStore({ url: server().url(), prefix });
  await writer.createDispatch(taskDir, envelope());
  await writer.appendEvents(taskDir, dispatchId, growingEvents(count));
  await writer.close();
  const store = await openRedisStore({ url: server().url(), prefix });
  onTestFinished(() => store.close());
  return { store, base: `{${prefix}}:` };
}

/** Pages, each with the positions that it returns. */
const pages = [
  [{ after: 9, limit: 5 }, 10, 14],
  [{ after: 20, limit: 15 }, 21, 35],
  [{ last: 6 }, count - 6, count - 1],
  [{ limit: count }, 0, count - 1],
] as const;

describeWithRedis(`damaged keys (HANSARD_SEED=${seed})`, () => {
  it.each(damages)(
    '$name is found with its place, and the whole events are kept',
    async ({ apply, lost }) => {
      const at = 1 + Math.floor(randomFrom(seed)() * (count - 5));
      const { store, base } = await written();
      await change(`${base}e:1`, apply(at));
      const gone = new Set(lost(at));
      const whole = idsOf(growingEvents(count)).filter((_, position) => !gone.has(position));
      for (const [options, first, last] of pages) {
        const read = store.readEvents(taskDir, dispatchId, options);
        const isHit = [...gone].some((position) => position >= first && position <= last);
        if (isHit) await expect(read).rejects.toMatchObject({ code: 'STORE_CORRUPT' });
        // A page beside the damage is whole, or is refused as well.
        else
          await read.then(
            ({ events: found }) => expect(found[0]?.id).toBe(growingEvents(1, first)[0]?.id),
            () => {},
          );
      }
      await expect(store.getDispatchEvents(taskDir, dispatchId)).rejects.toMatchObject({
        code: 'STORE_CORRUPT',
        details: { offset: Math.min(...gone), wholeEvents: Math.min(...gone) },
      });
      const found = (await store.verifyDispatch(taskDir, dispatchId)).damages;
      const places = found.flatMap(({ offset, lostEvents }) =>
        Array.from({ length: lostEvents ?? 0 }, (_, index) => offset + index),
      );
      expect(places.filter((place) => gone.has(place))).toEqual([...gone]);
      const { events: read } = await store.readEvents(taskDir, dispatchId, { skipDamaged: true });
      expect(idsOf(read)).toEqual(whole.filter((id) => idsOf(read).includes(id)));
      await store.claimDispatch(taskDir, dispatchId);
      await store.acceptLoss(taskDir, dispatchId, notice);
      const kept = idsOf(await store.getDispatchEvents(taskDir, dispatchId));
      expect(kept).toEqual([...idsOf(read), 'notice']);
      expect(await store.appendEvents(taskDir, dispatchId, growingEvents(1, count))).toEqual([kept.length]);
      expect(await store.findRemains()).toEqual([expect.stringContaining(`${base}e:1`)]);
      await store.deleteDispatch(taskDir, dispatchId);
      expect(await store.findRemains()).toEqual([]);
      expect(await command(server().url(), 'KEYS', `${base}e:*`)).toEqual([]);
    },
  );
});

describeWithRedis('damage beside other dispatches', () => {
  it('a changed envelope, a missing row and a doubled entry are found, and hide no other dispatch', async () => {
    const { store, base } = await written();
    const other = envelope({ dispatchId: 'other' });
    for (const id of ['other', 'gone', 'doubled'])
      await store.createDispatch(taskDir, envelope({ dispatchId: id }));
    await store.appendEvents(taskDir, 'doubled', growingEvents(5));
    const row = `${base}d:${taskDir}/${dispatchId}`;
    const text = String(await command(server().url(), 'HGET', row, 'envelope'));
    await command(server().url(), 'HSET', row, 'envelope', text.replace('worker', 'judge'));
    await command(server().url(), 'DEL', `${base}d:${taskDir}/gone`);
    await change(`${base}e:4`, (entries) =>
      entries.flatMap(([id, fields]) =>
        id === '2-0'
          ? ([
              [id, fields],
              ['2-1', fields],
            ] as Entry[])
          : [[id, fields]],
      ),
    );
    await expect(store.getDispatchEnvelope(taskDir, dispatchId)).rejects.toMatchObject({
      code: 'STORE_CORRUPT',
    });
    await expect(store.getDispatchEvents(taskDir, 'doubled')).rejects.toMatchObject({
      code: 'STORE_CORRUPT',
    });
    const { dispatches } = await store.listDispatches({ status: ['running'] });
    expect(dispatches.map((one) => [one.dispatchId, one.error?.code])).toEqual([
      ['doubled', undefined],
      ['other', undefined],
      [dispatchId, 'STORE_CORRUPT'],
      ['gone', 'STORE_CORRUPT'],
    ]);
    expect(await store.getDispatchEnvelope(taskDir, 'other')).toEqual(other);
  });
});

describeWithRedis('old content', () => {
  const secret = 'the-secret-of-an-event';
  const rewrite = {
    envelope: <T>(one: T) => one,
    event: <T extends { data: object }>(event: T) => ({ ...event, data: { text: 'removed' } }),
  };

  it('of a rewrite is in no file of the server after removeRemains', async () => {
    const { store } = await written();
    await store.claimDispatch(taskDir, dispatchId);
    const [event] = growingEvents(1, count);
    await store.appendEvents(taskDir, dispatchId, [{ ...event, data: { text: secret } } as never]);
    const [, folder = ''] = (await command(server().url(), 'CONFIG', 'GET', 'dir')) as string[];
    const files = () =>
      readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter((file) => file.isFile())
        .map((file) => readFileSync(join(file.parentPath, file.name), 'latin1'))
        .join('\n');
    const { remains } = await store.rewriteDispatch(taskDir, dispatchId, rewrite);
    expect(remains.join('\n')).toContain('append-only file');
    expect(files()).toContain(secret);
    expect((await store.removeRemains()).join('\n')).not.toContain('append-only file');
    expect(files()).not.toContain(secret);
  });

  it('that a killed rewrite has staged is named, unless it is under way, and removed', async () => {
    const { store, base } = await written();
    const run = (...args: string[]) => command(server().url(), ...args);
    await run('HSET', `${base}g`, '77', `token ${taskDir}/${dispatchId}`);
    await run('XADD', `${base}e:77`, '1-0', 'c', '1', 'i', 'a', 'l', secret);
    await run('XADD', `${base}e:78`, '1-0', 'c', '1', 'i', 'a', 'l', secret);
    await run('SET', `${base}o:token`, '{}');
    expect(await store.findRemains()).toEqual([expect.stringContaining(`${base}e:78`)]);
    await run('DEL', `${base}o:token`);
    const named = (await store.findRemains()).join('\n');
    for (const key of ['e:77', 'i:77', 'e:78']) expect(named).toContain(`${base}${key} `);
    expect(await store.findRemains({ taskDir: 'another/task' })).toEqual([]);
    await store.removeRemains();
    expect(await store.findRemains()).toEqual([expect.stringContaining(`${base}e:78`)]);
  });

  it('stays, and nothing else, when a rewrite fails', async () => {
    const { store, base } = await written();
    const failing = {
      ...rewrite,
      notice: () => {
        throw new Error('no notice');
      },
    };
    await expect(store.rewriteDispatch(taskDir, dispatchId, failing)).rejects.toThrow('no notice');
    expect(idsOf(await store.getDispatchEvents(taskDir, dispatchId))).toEqual(idsOf(growingEvents(count)));
    expect(await command(server().url(), 'KEYS', `${base}e:*`)).toEqual([`${base}e:1`]);
    expect(await store.findClaim(taskDir, dispatchId)).toBeNull();
  });
});
