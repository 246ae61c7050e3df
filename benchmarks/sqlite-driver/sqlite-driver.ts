/**
 * better-sqlite3 against Node's own `node:sqlite`, for docs/decisions/0001-sqlite-driver.md.
 *
 *   npm install --prefix benchmarks/sqlite-driver && node --expose-gc benchmarks/sqlite-driver/sqlite-driver.ts
 *
 * The drivers take turns in short rounds, so that noise of the machine meets both; a figure is the median of its rounds.
 */
import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { median, microsecondsSince } from '../measure.ts';
import { temporaryFolder } from '../temporary-folder.ts';

interface Statement {
  run(...values: (string | number)[]): unknown;
  all(...values: (string | number)[]): unknown[];
  get(...values: (string | number)[]): unknown;
}

interface Database {
  exec(sql: string): unknown;
  prepare(sql: string): Statement;
  close(): unknown;
}

type Open = (path: string) => Database;

const openers: Record<string, () => Promise<Open>> = {
  'node:sqlite': async () => {
    const { DatabaseSync } = await import('node:sqlite');
    return (path) => new DatabaseSync(path);
  },
  'better-sqlite3': async () => {
    const driver: string = 'better-sqlite3';
    const { default: BetterSqlite } = (await import(driver)) as { default: new (path: string) => Database };
    return (path) => new BetterSqlite(path);
  },
};

const line = (position: number): string =>
  JSON.stringify({
    id: `01JM${String(position).padStart(22, '0')}`,
    type: 'agent:text',
    timestamp: '2026-03-01T09:30:00.000Z',
    data: { text: 'The route table has three candidates; the second one is cheaper at night. '.repeat(3) },
  });

function prepareDatabase(open: Open, path: string) {
  const database = open(path);
  database.exec(`
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = NORMAL;
    CREATE TABLE events (
      dispatch INTEGER NOT NULL, position INTEGER NOT NULL, line TEXT NOT NULL,
      PRIMARY KEY (dispatch, position)
    ) WITHOUT ROWID;
  `);
  return {
    database,
    insert: database.prepare('INSERT INTO events (dispatch, position, line) VALUES (1, ?, ?)'),
    last: database.prepare('SELECT line FROM events WHERE dispatch = 1 ORDER BY position DESC LIMIT 50'),
    all: database.prepare('SELECT line FROM events WHERE dispatch = 1 ORDER BY position'),
    position: 0,
  };
}

type Contender = ReturnType<typeof prepareDatabase>;

const operations: Record<string, { readonly events: number; readonly run: (contender: Contender) => void }> =
  {
    'insert, one transaction each': {
      events: 1000,
      run: (contender) => {
        for (let count = 0; count < 1000; count += 1) {
          contender.insert.run(contender.position, line(contender.position));
          contender.position += 1;
        }
      },
    },
    'insert, 256 in a transaction': {
      events: 1024,
      run: (contender) => {
        for (let batch = 0; batch < 4; batch += 1) {
          contender.database.exec('BEGIN IMMEDIATE');
          for (let count = 0; count < 256; count += 1) {
            contender.insert.run(contender.position, line(contender.position));
            contender.position += 1;
          }
          contender.database.exec('COMMIT');
        }
      },
    },
    'last 50': {
      events: 100,
      run: (contender) => {
        for (let count = 0; count < 100; count += 1) contender.last.all();
      },
    },
    'all events': { events: 1, run: (contender) => void contender.all.all() },
  };

async function compare(): Promise<void> {
  const folder = temporaryFolder('sqlite-driver');
  const contenders = new Map<string, Contender>();
  for (const [name, load] of Object.entries(openers)) {
    contenders.set(name, prepareDatabase(await load(), `${folder}/${name.replace(':', '-')}.sqlite`));
  }
  for (const [operation, { events, run }] of Object.entries(operations)) {
    const rounds = operation === 'all events' ? 9 : 31;
    const figures = new Map<string, number[]>([...contenders.keys()].map((name) => [name, []]));
    for (let round = 0; round < rounds; round += 1) {
      const order = [...contenders];
      if (round % 2 === 1) order.reverse();
      for (const [name, contender] of order) {
        const start = process.hrtime.bigint();
        run(contender);
        figures.get(name)?.push(microsecondsSince(start) / events);
      }
    }
    const reference = median(figures.get('better-sqlite3') ?? []);
    for (const [driver, values] of figures) {
      const microseconds = median(values);
      console.log(
        JSON.stringify({
          operation,
          driver,
          microseconds: Number(microseconds.toFixed(2)),
          ratio: Number((microseconds / reference).toFixed(2)),
        }),
      );
    }
  }
  for (const contender of contenders.values()) contender.database.close();
  rmSync(folder, { recursive: true });
}

/** Runs in a process of its own, so that one driver's memory is not counted as the other's. */
async function measureMemory(driver: string): Promise<void> {
  const folder = temporaryFolder('sqlite-memory');
  const before = process.memoryUsage.rss();
  const contender = prepareDatabase(await (openers[driver] as () => Promise<Open>)(), `${folder}/a.sqlite`);
  const opened = process.memoryUsage.rss();
  const appendEvents = operations['insert, one transaction each']?.run ?? (() => {});
  for (let round = 0; round < 20; round += 1) appendEvents(contender);
  globalThis.gc?.();
  const warm = process.memoryUsage.rss();
  for (let round = 0; round < 100; round += 1) appendEvents(contender);
  globalThis.gc?.();
  const megabytes = (bytes: number): number => Number((bytes / 1e6).toFixed(1));
  console.log(
    JSON.stringify({
      operation: 'memory',
      driver,
      openMegabytes: megabytes(opened - before),
      growthOver100kInsertsMegabytes: megabytes(process.memoryUsage.rss() - warm),
    }),
  );
  contender.database.close();
  rmSync(folder, { recursive: true });
}

const only = process.argv[2];
if (only === undefined) {
  console.log(JSON.stringify({ node: process.version, platform: process.platform, arch: process.arch }));
  await compare();
  for (const driver of Object.keys(openers)) {
    execFileSync(process.execPath, [...process.execArgv, import.meta.filename, driver], { stdio: 'inherit' });
  }
} else await measureMemory(only);
