/**
 * Measures `store-postgres` beside `store-sqlite`, on a server of its own with the disk of the temporary folder. Prints a table; with
 * `--json`, a line of JSON for each result; with `--roles`, only what the role of a writer costs.
 */
import { readFileSync, rmSync } from 'node:fs';
import { connect, createServer, type Server } from 'node:net';
import type { CapturedEvent } from '@hansard/events';
import type { DispatchStoreProvider } from '@hansard/provider';
import { openPostgresStore, type PostgresStoreOptions, setupSql } from '@hansard/store-postgres';
import { openSqliteStore } from '@hansard/store-sqlite';
import { startServer } from '@hansard/testing/postgres';
import { Client } from 'pg';
import { median } from './measure.ts';
import { report, rounded, type Target } from './report.ts';
import { sampleEnvelope, sampleEvent, taskDir } from './sample-events.ts';
import { temporaryFolder } from './temporary-folder.ts';

type Durability = 'disk' | 'process';

const folder = temporaryFolder('bench-postgres');
// The tests turn `fsync` off; the last setting counts.
const server = await startServer(['fsync=on', 'shared_buffers=256MB', 'max_wal_size=4GB']);
const results: (readonly [Readonly<Record<string, string | number>>, readonly Target[]])[] = [];
const opened: DispatchStoreProvider[] = [];
let used = 0;

function note(measure: string, figures: Readonly<Record<string, number>>, targets: readonly Target[] = []) {
  const entries = Object.entries(figures).map(([key, value]) => [key, rounded(value)]);
  results.push([{ benchmark: 'postgres', measure, ...Object.fromEntries(entries) }, targets]);
}

async function openPostgres(
  durability: Durability,
  options: Partial<PostgresStoreOptions> = {},
): Promise<DispatchStoreProvider> {
  const store = await openPostgresStore({ url: server.url(), durability, connections: 16, ...options });
  opened.push(store);
  return store;
}

function openSqlite(durability: Durability): DispatchStoreProvider {
  const store = openSqliteStore({ path: `${folder}/${durability}.sqlite`, durability });
  opened.push(store);
  return store;
}

async function begin(store: DispatchStoreProvider): Promise<string> {
  used += 1;
  const id = `dispatch-${used}`;
  await store.createDispatch(taskDir, sampleEnvelope(id));
  return id;
}

const eventsFrom = (first: number, count: number): CapturedEvent[] =>
  Array.from({ length: count }, (_, at) => sampleEvent(first + at));

/** Milliseconds. */
async function timeOf(work: () => unknown): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

/** Appends to one dispatch; its position grows. */
async function logOf(store: DispatchStoreProvider) {
  const id = await begin(store);
  let length = 0;
  return {
    id,
    /** @returns microseconds for each event, of the median call */
    async append(batches: number, size: number): Promise<number> {
      const prepared = Array.from({ length: batches }, (_, at) => eventsFrom(length + at * size, size));
      length += batches * size;
      const times: number[] = [];
      for (const events of prepared) times.push(await timeOf(() => store.appendEvents(taskDir, id, events)));
      return (median(times) * 1_000) / size;
    },
  };
}

/**
 * The floor of a batch: an insert of ready lines, cut out of one text, into a table with the same indexes, without checks, checksums and a
 * claim.
 */
async function bareInsert(durability: Durability) {
  const client = new Client(server.url());
  await client.connect();
  await client.query(`SET synchronous_commit = ${durability === 'disk' ? 'on' : 'off'}`);
  const table = `bare_${durability}`;
  await client.query(
    `CREATE TABLE ${table} (dispatch bigint, position int, checksum int, id text COLLATE "C", line text,
       PRIMARY KEY (dispatch, position), UNIQUE (dispatch, id))`,
  );
  let length = 0;
  return {
    close: () => client.end(),
    async insert(batches: number, size: number): Promise<number> {
      const rows = Array.from({ length: batches }, (_, at) => {
        const events = eventsFrom(length + at * size, size);
        const lines = events.map((event) => JSON.stringify(event)).join('\n');
        return [length + at * size, lines, events.map(({ id }) => id).join(',')];
      });
      length += batches * size;
      const text = `INSERT INTO ${table} SELECT 1, $1::int + row - 1, 0, id, line
        FROM ROWS FROM (string_to_table($2, E'\\n'), string_to_table($3, ',')) WITH ORDINALITY AS u (line, id, row)`;
      const times: number[] = [];
      for (const values of rows) times.push(await timeOf(() => client.query({ name: table, text, values })));
      return (median(times) * 1_000) / size;
    },
  };
}

/** Runs the works in turn, several rounds; the median of each. */
async function inTurn<Name extends string>(
  rounds: number,
  works: Readonly<Record<Name, () => Promise<number>>>,
): Promise<Record<Name, number>> {
  const names = Object.keys(works) as Name[];
  const samples = Object.fromEntries(names.map((name) => [name, [] as number[]])) as Record<Name, number[]>;
  // The first round prepares statements and caches.
  for (let round = -1; round < rounds; round += 1)
    for (const name of names) {
      const figure = await works[name]();
      if (round >= 0) samples[name].push(figure);
    }
  return Object.fromEntries(names.map((name) => [name, median(samples[name])])) as Record<Name, number>;
}

/** Passes bytes on after a delay, as a network does. */
function startDelay(milliseconds: number): Promise<Server> {
  const proxy = createServer((client) => {
    const upstream = connect(server.port, '127.0.0.1').setNoDelay();
    client.setNoDelay();
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      from.on('data', (bytes) => setTimeout(() => to.writable && to.write(bytes), milliseconds / 2));
      from.on('error', () => to.destroy());
      from.on('close', () => to.destroy());
    }
  });
  return new Promise((resolve) => proxy.listen(0, '127.0.0.1', () => resolve(proxy)));
}

function portOf(proxy: Server): number {
  const address = proxy.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

async function measureAppends(): Promise<void> {
  for (const durability of ['disk', 'process'] as const) {
    const [sqlite, postgres] = [openSqlite(durability), await openPostgres(durability)];
    const single = { sqlite: await logOf(sqlite), postgres: await logOf(postgres) };
    const one = await inTurn(5, {
      sqlite: () => single.sqlite.append(200, 1),
      postgres: () => single.postgres.append(200, 1),
    });
    note(`one append, commit ${durability === 'disk' ? 'awaited' : 'not awaited'}, µs`, {
      ...one,
      ratio: one.postgres / one.sqlite,
    });
    const batches = { sqlite: await logOf(sqlite), postgres: await logOf(postgres) };
    const bare = await bareInsert(durability);
    const many = await inTurn(5, {
      sqlite: () => batches.sqlite.append(40, 256),
      bare: () => bare.insert(40, 256),
      postgres: () => batches.postgres.append(40, 256),
    });
    await bare.close();
    note(
      `batches of 256, commit ${durability === 'disk' ? 'awaited' : 'not awaited'}, µs per event`,
      { ...many, ratio: many.postgres / many.sqlite, ofBare: many.postgres / many.bare },
      [{ key: 'ratio', atMost: 1.3 }],
    );
  }
}

/** The price of the role of a writer, in one run: its appends go through a function that checks them. */
async function measureRoles(): Promise<void> {
  const client = new Client(server.url());
  await client.connect();
  for (const role of ['bench_owner', 'bench_writer']) await client.query(`CREATE ROLE ${role} LOGIN`);
  await client.query(setupSql({ schema: 'roles', owner: 'bench_owner', writer: 'bench_writer' }));
  /** The microseconds that the server has computed for a role, without those in which it waited. Only Linux says it. */
  const computed = async (role: string): Promise<number> => {
    const { rows } = await client.query('SELECT pid FROM pg_stat_activity WHERE usename = $1', [role]);
    const times = rows.map(({ pid }) => Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[0]));
    return times.reduce((sum, time) => sum + time, 0) / 1_000;
  };
  for (const durability of ['disk', 'process'] as const) {
    const open = (role: string) =>
      openPostgres(durability, { url: server.url(role), schema: 'roles', createTables: false });
    const [owner, writer] = [await open('bench_owner'), await open('bench_writer')];
    const logs = { owner: await logOf(owner), writer: await logOf(writer) };
    const awaited = `commit ${durability === 'disk' ? 'awaited' : 'not awaited'}`;
    for (const [batches, size] of [
      [200, 1],
      [40, 256],
    ] as const) {
      const kind = `${size === 1 ? 'one append' : 'batches of 256'} by role, ${awaited}`;
      const times = await inTurn(9, {
        owner: () => logs.owner.append(batches, size),
        writer: () => logs.writer.append(batches, size),
      });
      note(`${kind}, µs per event`, { ...times, ratio: times.writer / times.owner });
      if (process.platform !== 'linux') continue;
      const ofServer = (role: 'owner' | 'writer') => async () => {
        const before = await computed(`bench_${role}`);
        await logs[role].append(batches, size);
        return ((await computed(`bench_${role}`)) - before) / (batches * size);
      };
      const server = await inTurn(9, { owner: ofServer('owner'), writer: ofServer('writer') });
      note(`${kind}, µs of the server's processor`, { ...server, ratio: server.writer / server.owner });
    }
  }
  await client.end();
}

async function measureSideBySide(): Promise<void> {
  const stores = { sqlite: openSqlite('disk'), postgres: await openPostgres('disk') };
  for (const writers of [1, 8, 32]) {
    const logs = {
      sqlite: await Promise.all(Array.from({ length: writers }, () => logOf(stores.sqlite))),
      postgres: await Promise.all(Array.from({ length: writers }, () => logOf(stores.postgres))),
    };
    const each = Math.ceil(640 / writers);
    const rate = async (name: 'sqlite' | 'postgres') => {
      const time = await timeOf(() => Promise.all(logs[name].map((log) => log.append(each, 1))));
      return (each * writers * 1_000) / time;
    };
    note(
      `${writers} dispatches side by side, appends per second`,
      await inTurn(3, { sqlite: () => rate('sqlite'), postgres: () => rate('postgres') }),
    );
  }
}

async function measureDelayed(): Promise<void> {
  const proxy = await startDelay(1);
  const url = `postgresql://postgres@127.0.0.1:${portOf(proxy)}/postgres`;
  const store = await openPostgres('disk', { url });
  const [single, batches] = [await logOf(store), await logOf(store)];
  note('one append through a proxy that adds 1 ms, commit awaited, µs', {
    postgres: (await inTurn(3, { time: () => single.append(100, 1) })).time,
  });
  note('batches of 256 through that proxy, µs per event', {
    postgres: (await inTurn(3, { time: () => batches.append(10, 256) })).time,
  });
  await store.close();
  proxy.close();
}

async function measureSeen(): Promise<void> {
  const [writer, reader] = [await openPostgres('disk'), await openPostgres('disk')];
  const log = await logOf(writer);
  let changed = (): void => {};
  const stop = await reader.watch?.({ taskDir, dispatchId: log.id }, () => changed());
  const seen = async (): Promise<number> => {
    await log.append(1, 1);
    const start = performance.now();
    const { next } = await writer.readEvents(taskDir, log.id, { last: 1 });
    for (;;) {
      const called = new Promise<void>((resolve) => {
        changed = resolve;
      });
      if ((await reader.readEvents(taskDir, log.id, { last: 1 })).next === next)
        return performance.now() - start;
      await called;
    }
  };
  const { time } = await inTurn(40, { time: seen });
  stop?.();
  note('acknowledged to seen by another opening, ms', { postgres: time }, [{ key: 'postgres', atMost: 50 }]);
}

/** Appends per second of 16 dispatches, in the openings given. */
async function rateOfWriters(store: DispatchStoreProvider): Promise<() => Promise<number>> {
  const logs = await Promise.all(Array.from({ length: 16 }, () => logOf(store)));
  return async () => {
    const time = await timeOf(() => Promise.all(logs.map((log) => log.append(60, 1))));
    return (16 * 60 * 1_000) / time;
  };
}

async function measureListeners(): Promise<void> {
  const writer = await openPostgres('disk');
  const listeners = await Promise.all(
    Array.from({ length: 10 }, () => openPostgres('disk', { connections: 2 })),
  );
  const rate = await rateOfWriters(writer);
  const listened = async (): Promise<number> => {
    const stops = await Promise.all(listeners.map((store) => store.watch?.({ taskDir }, () => {})));
    const found = await rate();
    for (const stop of stops) stop?.();
    return found;
  };
  const { without, with10 } = await inTurn(5, { without: rate, with10: listened });
  const share = without / with10;
  note('16 writers, appends per second', { without, with10, share }, [{ key: 'share', atMost: 1 / 0.6 }]);
}

async function measureLengths(): Promise<string> {
  const store = await openPostgres('process');
  const logs = await Promise.all(
    [1_000, 100_000, 1_000_000].map(async (length) => [length, await logOf(store)] as const),
  );
  const client = new Client(server.url());
  await client.connect();
  const numberOf = async (text: string): Promise<number> =>
    Number((await client.query(text)).rows[0]?.number);
  const walPosition = () => numberOf("SELECT pg_current_wal_insert_lsn() - '0/0' AS number");
  const stored = () => numberOf('SELECT count(*) AS number FROM hansard.events');
  const [walBefore, before] = [await walPosition(), await stored()];
  for (const [length, log] of logs) await log.append(Math.ceil(length / 5_000), Math.min(length, 5_000));
  const [walAfter, after] = [await walPosition(), await stored()];
  // As the server does by itself in the minutes after such a load.
  await client.query('VACUUM ANALYZE');
  await client.query('CHECKPOINT');
  const size = await numberOf("SELECT pg_total_relation_size('hansard.events') AS number");
  note(`bytes of the server for an event of ${JSON.stringify(sampleEvent(0)).length}, in large batches`, {
    tableAndIndexes: size / after,
    writeAheadLog: (walAfter - walBefore) / (after - before),
  });
  const [short, middle, long] = logs.map(([, log]) => log);
  if (short === undefined || middle === undefined || long === undefined) throw new Error('No dispatch.');
  const grow = () =>
    inTurn(7, {
      at1k: () => short.append(100, 1),
      at100k: () => middle.append(100, 1),
      at1M: () => long.append(100, 1),
    });
  const times = await grow();
  const targets: Target[] = [{ key: 'ratio', atMost: 1.3 }];
  note('one append by length, commit not awaited, µs', { ...times, ratio: times.at1M / times.at1k }, targets);
  await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
  await client.query('SELECT count(*) FROM hansard.dispatches');
  // The longer it is open, the more dead versions of a changed row there would be.
  await short.append(4_000, 1);
  const old = await grow();
  await client.query('ROLLBACK');
  await client.end();
  note('the same while an old snapshot is open, µs', { ...old, ratio: old.at1k / times.at1k }, [
    { key: 'ratio', atMost: 1.3 },
  ]);
  return long.id;
}

async function measureReads(long: string): Promise<void> {
  const store = await openPostgres('disk');
  const read = (work: () => unknown) => inTurn(30, { time: () => timeOf(work) });
  const last = await read(() => store.readEvents(taskDir, long, { last: 50 }));
  note('last 50 of a million, ms', { postgres: last.time }, [{ key: 'postgres', atMost: 1 }]);
  const page = await read(() => store.readEvents(taskDir, long, { after: 500_000, limit: 1_000 }));
  note('page of 1,000 in the middle of a million, ms', { postgres: page.time });
  const envelopes = { postgres: store, sqlite: openSqlite('disk') };
  const other = 'benchmarks/tasks/envelopes';
  for (const each of Object.values(envelopes))
    for (let at = 0; at < 1_000; at += 1)
      await each.createDispatch(other, { ...sampleEnvelope(`listed-${at}`), status: 'completed' });
  const listed = await inTurn(15, {
    sqlite: () => timeOf(() => envelopes.sqlite.getDispatchEnvelopes(other)),
    postgres: () => timeOf(() => envelopes.postgres.getDispatchEnvelopes(other)),
  });
  note('1,000 envelopes, ms', listed, [{ key: 'postgres', atMost: 10 }]);
}

async function measureAll(): Promise<void> {
  await measureAppends();
  await measureSideBySide();
  await measureDelayed();
  await measureSeen();
  await measureListeners();
  await measureReads(await measureLengths());
}

function printTable(): void {
  const rows = results.map(([{ benchmark: _, measure, ...figures }, targets]) => {
    const shown = Object.entries(figures).map(([key, value]) => `${key} ${value}`);
    const missed = targets.filter(({ key, atMost }) => Number(figures[key]) > atMost);
    const limit = targets.map(({ key, atMost }) => `${key} at most ${rounded(atMost)}`).join(', ');
    const verdict = targets.length === 0 ? '' : `${missed.length === 0 ? 'met' : 'MISSED'}: ${limit}`;
    return [String(measure), shown.join(', '), verdict];
  });
  const widths = [0, 1].map((column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  for (const row of rows)
    console.log(
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    );
}

try {
  await measureRoles();
  if (!process.argv.includes('--roles')) await measureAll();
  if (process.argv.includes('--json')) for (const [result, targets] of results) report(result, targets);
  else printTable();
} finally {
  for (const store of opened) await store.close();
  await server.stop();
  rmSync(folder, { recursive: true });
}
