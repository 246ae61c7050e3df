/**
 * Measures checksums beside a single append, the creation of dispatches beside plain files, and the verification of a log, in
 * `store-jsonfile`. Contenders take turns in short rounds; each figure is a median.
 */
import { closeSync, openSync, rmSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { openJsonFileStore } from '@hansard/store-jsonfile';
import { checksumOf, writeChecksum } from '@hansard/store-kit';
import { median, microsecondsSince } from './measure.ts';
import { report, rounded } from './report.ts';
import { sampleEnvelope, sampleEvent, taskDir } from './sample-events.ts';
import { temporaryFolder } from './temporary-folder.ts';

type Times = Map<string, number[]>;

/** Runs each contender once in each round, in an order that changes. */
function measure(rounds: number, contenders: Readonly<Record<string, (round: number) => number>>): Times {
  const times: Times = new Map(Object.keys(contenders).map((name) => [name, []]));
  const entries = Object.entries(contenders);
  for (let round = 0; round < rounds; round += 1) {
    entries.push(...entries.splice(0, 1 + (round % entries.length)));
    for (const [name, run] of entries) times.get(name)?.push(run(round));
  }
  return times;
}

const medianOf = (times: Times, name: string): number => median(times.get(name) ?? []);

/** Microseconds of processor time for each call, so that other work on the machine counts as little as possible. */
function timed(count: number, work: (index: number) => void): number {
  const start = process.cpuUsage();
  for (let index = 0; index < count; index += 1) work(index);
  const { user, system } = process.cpuUsage(start);
  return (user + system) / count;
}

/** Microseconds by the clock. One call is too short to be interrupted often. */
function elapsed(work: () => void): number {
  const start = process.hrtime.bigint();
  work();
  return microsecondsSince(start);
}

/** What the checksum of one line costs: the call over its bytes, and the text. */
function measureChecksums(): void {
  const folder = temporaryFolder('bench-checksums');
  const store = openJsonFileStore({ root: folder });
  store.createDispatch(taskDir, sampleEnvelope('log'));
  const bytes = Buffer.allocUnsafeSlow(64 * 1024);
  const size = bytes.write(JSON.stringify(sampleEvent(0)));
  let crc = 0;
  const round = 1_000;
  const times = measure(200, {
    append: (at) => {
      const events = Array.from({ length: round }, (_, index) => sampleEvent(at * round + index));
      return timed(round, (index) => store.appendEvent(taskDir, 'log', events[index] ?? sampleEvent(0)));
    },
    checksum: () =>
      timed(round, () => {
        crc = checksumOf(new Uint8Array(bytes.buffer, 0, size), crc);
        writeChecksum(bytes, size, crc);
      }),
  });
  store.close();
  rmSync(folder, { recursive: true });
  const append = medianOf(times, 'append');
  const checksum = medianOf(times, 'checksum');
  report(
    {
      benchmark: 'integrity',
      figure: 'a checksum, of an append without it',
      bytes: size,
      append: rounded(append),
      checksum: rounded(checksum),
      ratio: rounded(checksum / (append - checksum)),
    },
    [{ key: 'ratio', atMost: 0.15 }],
  );
}

function measureCreation(): void {
  const folder = temporaryFolder('bench-creation');
  const store = openJsonFileStore({ root: folder });
  const few = join(folder, 'few/dispatches');
  for (let at = 0; at < 20_000; at += 1)
    store.createDispatch('many', { ...sampleEnvelope(`old-${at}`), status: 'completed' });
  for (let at = 0; at < 10; at += 1)
    store.createDispatch('few', { ...sampleEnvelope(`old-${at}`), status: 'completed' });
  const { size } = statSync(join(few, 'old-0.json'));
  const content = Buffer.alloc(size, 'x');
  const events = [1, 2, 3].map(sampleEvent);
  const whole = (task: string, id: string) => {
    store.createDispatch(task, sampleEnvelope(id));
    for (const event of events) store.appendEvent(task, id, event);
    store.updateDispatch(task, id, { status: 'completed' });
    store.releaseDispatch(task, id);
  };
  const times = measure(600, {
    // In the folder of the dispatches: the time that ext4 takes depends on the folder.
    plain: (round) =>
      elapsed(() => {
        const fd = openSync(join(few, `plain-${round}`), 'w');
        writeSync(fd, content);
        closeSync(fd);
      }),
    create: (round) => elapsed(() => store.createDispatch('few', sampleEnvelope(`${round}`))),
    whole: (round) => elapsed(() => whole('few', `w-${round}`)),
    createMany: (round) => elapsed(() => store.createDispatch('many', sampleEnvelope(`${round}`))),
    wholeMany: (round) => elapsed(() => whole('many', `w-${round}`)),
  });
  const plainFile = medianOf(times, 'plain');
  report({ benchmark: 'integrity', figure: 'a plain file', bytes: size, microseconds: rounded(plainFile) });
  const figures = [
    ['create a running dispatch', 'create', 'createMany', 5],
    ['create, three events, end, release', 'whole', 'wholeMany', 12],
  ] as const;
  for (const [figure, name, large, atMost] of figures) {
    const microseconds = medianOf(times, name);
    const at20k = medianOf(times, large);
    report(
      {
        benchmark: 'integrity',
        figure,
        microseconds: rounded(microseconds),
        at20k: rounded(at20k),
        ofPlainFile: rounded(microseconds / plainFile),
        of10: rounded(at20k / microseconds),
      },
      [
        { key: 'ofPlainFile', atMost },
        { key: 'of10', atMost: 1.2 },
      ],
    );
  }
  const start = process.hrtime.bigint();
  store.close();
  report({
    benchmark: 'integrity',
    figure: 'close',
    milliseconds: rounded(microsecondsSince(start) / 1_000),
  });
  rmSync(folder, { recursive: true });
}

function measureVerification(): void {
  const folder = temporaryFolder('bench-verify');
  const store = openJsonFileStore({ root: folder });
  store.createDispatch(taskDir, sampleEnvelope('log'));
  for (let from = 0; from < 600_000; from += 1_000)
    store.appendEvents(
      taskDir,
      'log',
      Array.from({ length: 1_000 }, (_, index) => sampleEvent(from + index)),
    );
  const times = measure(7, { verify: () => timed(1, () => store.verifyDispatch(taskDir, 'log')) });
  const { bytes, wholeEvents } = store.verifyDispatch(taskDir, 'log');
  store.close();
  rmSync(folder, { recursive: true });
  const speed = bytes / medianOf(times, 'verify');
  report(
    {
      benchmark: 'integrity',
      figure: 'verify, MB/s',
      bytes,
      wholeEvents,
      speed: rounded(speed),
      of300: rounded(300 / speed),
    },
    [{ key: 'of300', atMost: 1 }],
  );
}

measureChecksums();
measureCreation();
measureVerification();
