/** Measures the checksums of `store-sqlite`: of an append, beside the same insert with a constant, and of a whole dispatch. */
import { rmSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { crc32 } from 'node:zlib';
import { encodeEvent } from '@hansard/events';
import { openSqliteStore } from '@hansard/store-sqlite';
import { median, microsecondsSince } from './measure.ts';
import { report, rounded } from './report.ts';
import { sampleEnvelope, sampleEvent, taskDir } from './sample-events.ts';
import { temporaryFolder } from './temporary-folder.ts';

const rounds = 200;
const perRound = 200;
const folder = temporaryFolder('bench-sqlite-integrity');

/** Encodes and inserts an event, as the store does, in a database of its own. */
function inserter(
  name: string,
  columns: string,
  checksumOf: ((line: string, before: number) => number) | null,
) {
  const database = new DatabaseSync(`${folder}/${name}.sqlite`);
  database.exec(`
    PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;
    CREATE TABLE claims (dispatch INTEGER NOT NULL PRIMARY KEY, epoch INTEGER NOT NULL) STRICT;
    INSERT INTO claims VALUES (1, 1);
    CREATE TABLE events (dispatch INTEGER NOT NULL, position INTEGER NOT NULL, ${columns} line TEXT NOT NULL,
      PRIMARY KEY (dispatch, position)) STRICT, WITHOUT ROWID;`);
  const values = checksumOf === null ? '?1, ?2, ?3' : '?1, ?2, 0, ?4, ?3';
  const from = 'FROM claims WHERE dispatch = ?1 AND epoch = 1';
  const insert = database.prepare(`INSERT INTO events SELECT ${values} ${from}`);
  let position = 0;
  let checksum = 0;
  return () => {
    const line = encodeEvent(sampleEvent(position));
    if (checksumOf === null) insert.run(1, position, line);
    else {
      checksum = checksumOf(line, checksum);
      insert.run(1, position, line, checksum);
    }
    position += 1;
  };
}

const store = openSqliteStore({ path: `${folder}/store.sqlite` });
store.createDispatch(taskDir, sampleEnvelope('appended'));
let position = 0;
const marks = 'batch INTEGER NOT NULL, crc INTEGER NOT NULL,';
const contenders = [
  { name: 'insert without checksum', append: inserter('none', '', null) },
  { name: 'insert with a constant', append: inserter('constant', marks, () => 0xcbf43926) },
  {
    name: 'insert with a checksum',
    append: inserter('checksum', marks, (line, before) => crc32(line, before)),
  },
  {
    name: 'store-sqlite, provider',
    append: () => store.appendEvent(taskDir, 'appended', sampleEvent(position++)),
  },
].map((contender) => ({ ...contender, samples: [] as number[] }));

for (let round = 0; round < rounds; round += 1) {
  // Each contender is first equally often.
  const order = contenders.map((_, index) => contenders[(index + round) % contenders.length]);
  for (const contender of order) {
    const times = Array.from({ length: perRound }, () => {
      const start = process.hrtime.bigint();
      contender?.append();
      return microsecondsSince(start);
    });
    contender?.samples.push(median(times));
  }
}
const [without = Number.NaN, constant = Number.NaN] = contenders.map(({ samples }) => median(samples));
for (const { name, samples } of contenders) {
  const ofConstant = rounded(median(samples) / constant);
  report(
    {
      benchmark: 'sqlite-integrity',
      contender: name,
      microseconds: rounded(median(samples)),
      ofConstant,
      ofInsertWithout: rounded(median(samples) / without),
    },
    name === 'insert with a checksum' ? [{ key: 'ofInsertWithout', atMost: 1.05 }] : [],
  );
}

const times = new Map<string, number[]>();
for (let round = 0; round < 9; round += 1)
  for (const [name, work] of [
    ['getDispatchEvents', () => store.getDispatchEvents(taskDir, 'appended')],
    ['verifyDispatch', () => store.verifyDispatch(taskDir, 'appended')],
  ] as const) {
    const start = process.hrtime.bigint();
    work();
    times.set(name, [...(times.get(name) ?? []), microsecondsSince(start) / 1_000]);
  }
const reading = median(times.get('getDispatchEvents') ?? []);
const { bytes } = store.verifyDispatch(taskDir, 'appended');
for (const [name, values] of times) {
  const ofReading = rounded(median(values) / reading);
  report(
    {
      benchmark: 'sqlite-integrity',
      contender: name,
      events: rounds * perRound,
      milliseconds: rounded(median(values)),
      megabytesPerSecond: rounded(bytes / 1_000 / median(values)),
      ofReading,
    },
    name === 'verifyDispatch' ? [{ key: 'ofReading', atMost: 1 }] : [],
  );
}
store.close();
rmSync(folder, { recursive: true });
