import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import type { CapturedEvent, TaskRecord } from '@hansard/provider';
import { currentProcess } from '@hansard/store-kit';
import { useServer } from '@hansard/testing/postgres-in-tests';
import { dispatchId, envelope, taskDir } from '@hansard/testing/store-samples';
import { expect, it } from 'vitest';
import type { PostgresStore } from '../src/index.ts';
import { newStores, type Stores, superuser } from './server/stores.ts';

const server = useServer();
const secret = 'opensesame';
const event = (id: string, text: string): CapturedEvent => ({
  id,
  type: 'agent:text',
  timestamp: '2026-03-01T10:00:00.000Z',
  data: { text },
});

const taskNamed = (name: string): TaskRecord => ({
  slug: 'a',
  name,
  project: 'lab',
  status: 'open',
  created: '2026-03-01T09:00:00.000Z',
});

/** A rewritten dispatch with the secret in each event, of which the server has made statistics. */
async function rewritten(
  stores: Stores,
): Promise<{ readonly store: PostgresStore; readonly remains: readonly string[] }> {
  const store = await stores.open();
  await store.createDispatch(taskDir, { ...envelope(), title: secret });
  const events = Array.from({ length: 40 }, (_, at) => event(`event-${at + 10}`, `${secret} ${at}`));
  await store.appendEvents(taskDir, dispatchId, events);
  await store.putTask(taskDir, taskNamed(secret));
  expect(await store.searchEvents(secret)).toHaveLength(40);
  await stores.sql('ANALYZE S.events');
  await stores.sql('ANALYZE S.event_words');
  const { remains } = await store.rewriteDispatch(taskDir, dispatchId, {
    envelope: (old) => ({ ...old, title: 'closed' }),
    event: (old) => ({ ...old, data: { text: 'closed' } }),
    notice: () => event('z-notice', 'replaced'),
  });
  await store.putTask(taskDir, taskNamed('closed'));
  return { store, remains };
}

/** The columns whose statistics contain the secret. */
async function statisticsWithIt({ schema, sql }: Stores): Promise<string[]> {
  const { rows } = await sql(
    `SELECT tablename || '.' || attname AS place FROM pg_stats
     WHERE schemaname = $1 AND concat(most_common_vals, histogram_bounds, most_common_elems) LIKE $2 ORDER BY 1`,
    [schema, `%${secret}%`],
  );
  return rows.map(({ place }) => place as string);
}

/** Whether the file of an index or of a table contains the secret. */
async function fileHasIt({ sql }: Stores, relation: string): Promise<boolean> {
  await sql('CHECKPOINT');
  const { rows } = await sql(
    `SELECT position(convert_to($1, 'UTF8') IN pg_read_binary_file(pg_relation_filepath('S.${relation}'))) > 0 AS has`,
    [secret],
  );
  return rows[0]?.has === true;
}

/** The commands that a text names. */
function commandsIn(remains: readonly string[]): string[] {
  return remains.flatMap((place) =>
    [...place.matchAll(/`([A-Z][^`]*)`/g)].map(([, command = '']) => command),
  );
}

it('has no old content in the statistics that every reader of a table sees, after its remains were removed', async () => {
  const stores = newStores(server());
  const { store, remains } = await rewritten(stores);
  expect(await statisticsWithIt(stores)).toEqual(['event_words.words', 'events.line']);
  expect(remains[0]).toContain('ANALYZE');
  // The table of words has only the row of its rule, and ANALYZE alone keeps the statistics.
  expect((await stores.sql('SELECT FROM S.event_words WHERE dispatch >= 0')).rowCount).toBe(0);
  const left = await store.removeRemains();
  expect(await statisticsWithIt(stores)).toEqual([]);
  expect(left.join('\n')).not.toContain('ANALYZE');
  expect((await stores.sql('SELECT FROM S.event_words WHERE dispatch >= 0')).rowCount).toBe(0);
  expect((await stores.sql("SELECT FROM S.dispatches WHERE task_dir = ''")).rowCount).toBe(0);
  expect((await store.verifyDispatch(taskDir, dispatchId)).damages).toEqual([]);
});

it('names the index of words and the deleted rows, with commands that remove them', async () => {
  const stores = newStores(server());
  const { store } = await rewritten(stores);
  const left = await store.removeRemains();
  expect([await fileHasIt(stores, 'event_words_by_word'), await fileHasIt(stores, 'events')]).toEqual([
    true,
    true,
  ]);
  const commands = commandsIn(left);
  expect(commands.map((command) => command.split(' ')[0])).toEqual(['REINDEX', 'VACUUM', 'VACUUM']);
  for (const command of commands) await superuser(server(), command);
  expect([await fileHasIt(stores, 'event_words_by_word'), await fileHasIt(stores, 'events')]).toEqual([
    false,
    false,
  ]);
});

it('names the statistics where the role of the store does not own the tables', async () => {
  const stores = newStores(server());
  await rewritten(stores);
  const { schema } = stores;
  await superuser(
    server(),
    `CREATE ROLE the_cleaner LOGIN; GRANT USAGE ON SCHEMA "${schema}" TO the_cleaner; GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA "${schema}" TO the_cleaner`,
  );
  const store = await stores.open({ url: server().url('the_cleaner'), createTables: false });
  expect((await store.removeRemains())[0]).toContain('The statistics of the tables (pg_stats)');
  expect(await statisticsWithIt(stores)).toHaveLength(2);
});

it('removes nothing where there are no tables', async () => {
  expect(await (await newStores(server()).open()).removeRemains()).toEqual([]);
});

it('rows that belong to nothing are named, and nothing changes', async () => {
  const stores = newStores(server());
  const store = await stores.open();
  await store.createDispatch(taskDir, envelope());
  await store.appendEvents(taskDir, dispatchId, [event('event-1', secret)]);
  expect(await store.findRemains()).toEqual([]);
  const { pid } = spawnSync(process.execPath, ['--version']);
  const gone = { ...currentProcess(), pid, startTime: '1', leaseMs: 10_000, token: 'gone' };
  await stores.sql(
    `INSERT INTO S.events (dispatch, position, checksum, id, line) VALUES (77, 0, 0, 'a', '{}'), (90, 0, 0, 'a', '{}')`,
  );
  await stores.sql(`INSERT INTO S.event_words (dispatch, position, at, words) VALUES (78, 0, '', '{}')`);
  await stores.sql('INSERT INTO S.openings (token, owner, beat) VALUES ($1, $2, 1)', [
    'gone',
    JSON.stringify(gone),
  ]);
  const { name } = await store.getServer();
  const how = (table: string) => `keep a copy, and delete them from "${stores.schema}".${table}.`;
  expect(await store.findRemains()).toEqual([
    `${name}, rows of events under numbers that no dispatch has (77, 90): ${how('events')}`,
    `${name}, rows of event_words under numbers that no dispatch has (78): ${how('event_words')}`,
    `${name}, the heartbeat gone of a process that has exited: delete its row from "${stores.schema}".openings.`,
  ]);
  expect(await store.findRemains({ taskDir, dispatchId })).toEqual([]);
  expect(await store.getDispatchEvents(taskDir, dispatchId)).toHaveLength(1);
});

/** The relations of a schema, with the tables that PostgreSQL keeps large values in, and the statistics, whose files have one of the texts. */
async function relationsWith({ schema, sql }: Stores, texts: readonly string[]): Promise<string[]> {
  await sql('CHECKPOINT');
  const { rows } = await sql(
    `SELECT c.relname AS name, pg_read_binary_file(pg_relation_filepath(c.oid)) AS bytes FROM pg_class c
     WHERE pg_relation_filepath(c.oid) IS NOT NULL AND (c.relname = 'pg_statistic' OR c.relnamespace = $1::regnamespace
       OR c.oid IN (SELECT reltoastrelid FROM pg_class WHERE relnamespace = $1::regnamespace))`,
    [`"${schema}"`],
  );
  const found = rows as { name: string; bytes: Buffer }[];
  return found
    .filter(({ bytes }) => {
      const text = bytes.toString('latin1').toLowerCase();
      return texts.some((one) => text.includes(one));
    })
    .map(({ name }) => name)
    .sort();
}

it('keeps none of 1,000 secrets anywhere but in the places that it names, after a redaction that failed in the middle', async () => {
  const stores = newStores(server());
  const store = await stores.open();
  const canaries = Array.from(
    { length: 1_000 },
    (_, at) => `canary${createHash('sha256').update(`${at}`).digest('hex').slice(0, 30)}`,
  );
  const endings = canaries.map((one) => one.slice(-20));
  const closed = <T>(value: T): T =>
    JSON.parse(JSON.stringify(value).replaceAll(/canary[0-9a-f]{30}/g, 'closed')) as T;
  const places = Array.from({ length: 10 }, (_, at) => ({ task: taskDir, id: `D${at}` }));
  // Letters, which are envelopes without events.
  places.push(...places.map(({ id }) => ({ task: `_hansard/inbox/${id}`, id: `letter_${id}` })));
  let next = 0;
  const take = () => canaries[next++ % canaries.length] as string;
  for (const { task, id } of places) {
    const isLetter = task !== taskDir;
    const fields = isLetter ? { status: 'completed' as const } : {};
    await store.createDispatch(task, { ...envelope(fields), dispatchId: id, title: take() });
    if (isLetter) continue;
    await store.appendEvents(
      task,
      id,
      Array.from({ length: 98 }, (_, at) => event(`event-${at + 10}`, take())),
    );
    await store.searchEvents('closed', { taskDir: task });
    await store.updateDispatch(task, id, { title: take(), status: 'completed' });
    await store.releaseDispatch(task, id);
  }
  expect(next).toBeGreaterThanOrEqual(canaries.length);
  await stores.sql('ANALYZE S.events');
  await stores.sql('ANALYZE S.event_words');
  const rewrite = { envelope: closed, event: closed };
  // It fails in the middle, and is repeated.
  let calls = 0;
  const killed = store.rewriteDispatch(taskDir, 'D0', {
    envelope: closed,
    event: (one) => {
      calls += 1;
      if (calls === 50) throw new Error('killed');
      return closed(one);
    },
  });
  await expect(killed).rejects.toThrow('killed');
  for (const { task, id } of places) await store.rewriteDispatch(task, id, rewrite);
  const remains = await store.removeRemains();
  const left = await relationsWith(stores, endings);
  expect(left).toEqual(expect.arrayContaining(['event_words_by_word', 'events', 'dispatches']));
  const words = remains.join('\n');
  expect(
    left.filter((name) => !words.includes(name.replace(/_pkey$|_key$/, '')) && !name.startsWith('pg_toast')),
  ).toEqual([]);
  for (const command of commandsIn(remains)) await superuser(server(), command);
  expect(await relationsWith(stores, endings)).toEqual([]);
  for (const { task, id } of places) {
    expect(JSON.stringify(await store.getDispatchEvents(task, id))).not.toContain('canary');
    expect((await store.verifyDispatch(task, id)).damages).toEqual([]);
  }
});
