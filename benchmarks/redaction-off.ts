/**
 * Compares what recording and exporting cost without a redactor in this checkout and in an older one, such as one that has no redaction:
 * `node --conditions=@hansard/source benchmarks/redaction-off.ts OTHER-CHECKOUT`. Processor times of two processes differ by more
 * than the 2 % in question, so it counts instructions instead, with valgrind and without the compilers of V8: two counts of the same code differ by about
 * 1 %. A count is that of a process with three rounds without that of one with one round, halved: what a process does once is not in it.
 */
import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { isCorpusThere } from './corpus-transcripts.ts';
import { here, type Place, works, writeSomeTranscript } from './redaction-works.ts';
import { report, rounded } from './report.ts';
import { temporaryFolder } from './temporary-folder.ts';

const megabytes = 1;
/** Counts of each checkout, in turns. */
const repeats = 2;
const interpreted = [
  ...['--no-opt', '--no-sparkplug', '--no-maglev', '--regexp-interpret-all'],
  ...['--single-threaded', '--predictable', '--hash-seed=1', '--random-seed=1'],
];
/** `setarch`, because addresses of memory that differ would change hashes. */
const counter = [
  ...['setarch', '-R', 'valgrind'],
  ...['--tool=cachegrind', '--cache-sim=no', '--cachegrind-out-file=/dev/null'],
];

const [first, given, rounds] = process.argv.slice(2);
if (first !== undefined && given !== undefined && rounds !== undefined) {
  await work(first, JSON.parse(given) as Place, Number(rounds));
  process.exit();
} else if (first !== undefined) {
  compareAll(resolve(first));
} else {
  throw new TypeError('Name the folder of another checkout, with its packages installed.');
}

async function work(step: string, place: Place, count: number): Promise<void> {
  for (let round = 0; round < count; round += 1) {
    const measured = await works[step]?.({
      ...place,
      folder: join(place.folder, `${round}`),
      redactor: null,
    });
    await measured?.();
  }
}

function compareAll(other: string): void {
  const folder = temporaryFolder('bench-redaction-off');
  const transcript = join(folder, 'session.jsonl');
  const bytes = writeSomeTranscript(transcript, megabytes * 1e6);
  const instructions = (root: string, step: string, count: number): number => {
    const place: Place = { root, transcript, folder: join(folder, 'work') };
    const script = [import.meta.filename, step, JSON.stringify(place), `${count}`];
    const [program = '', ...args] = [
      ...counter,
      process.execPath,
      ...interpreted,
      ...process.execArgv,
      ...script,
    ];
    const { error, status, stderr } = spawnSync(program, args, { encoding: 'utf8' });
    rmSync(place.folder, { recursive: true, force: true });
    const counted = /I +refs: +([\d,]+)/.exec(stderr ?? '')?.[1];
    if (error !== undefined || status !== 0 || counted === undefined)
      throw new Error(
        `valgrind and setarch are needed, and a process that ends well: ${error?.message ?? stderr}`,
      );
    return Number(counted.replaceAll(',', ''));
  };
  const ofOneRound = (root: string, step: string) =>
    (instructions(root, step, 3) - instructions(root, step, 1)) / 2;
  for (const step of Object.keys(works)) {
    const sums = { before: 0, now: 0 };
    const all: number[] = [];
    for (let repeat = 0; repeat < repeats; repeat += 1) {
      const before = ofOneRound(other, step);
      const now = ofOneRound(here, step);
      all.push(before, now);
      sums.before += before;
      sums.now += now;
    }
    report(
      {
        benchmark: 'redaction-off',
        transcript: isCorpusThere ? 'corpus' : 'made',
        work: step,
        megabytes: rounded(bytes / 1e6),
        millionInstructions: all.map((one) => Math.round(one / 1e6)).join(' '),
        offToBefore: Math.round((1_000 * sums.now) / sums.before) / 1_000,
      },
      [{ key: 'offToBefore', atMost: 1.02 }],
    );
  }
  rmSync(folder, { recursive: true });
}
