/**
 * Measures importing a folder of transcripts again: the first import, an import in which nothing has changed (at most a tenth of
 * the first), and one after each file grew by 1 %. Each runs in its own process, in processor time of all threads, for each store. The first one, and
 * then five in which nothing has changed, also run in one process.
 * `HANSARD_BENCH_MEGABYTES` sets the size of all files (default: 40), `HANSARD_BENCH_FILES` their number (default: 20).
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openDispatchStore } from '@hansard/dispatch';
import { importLogs } from '@hansard/import';
import { median } from './measure.ts';
import { report, rounded } from './report.ts';
import { openStore, type StoreName, storeNames } from './stores.ts';
import { temporaryFolder } from './temporary-folder.ts';
import { writeTranscript } from './transcripts.ts';

const taskDir = 'benchmarks/tasks/import-again';

const works = ['first', 'unchanged', 'grown by 1 %'] as const;

type Work = (typeof works)[number];

/** Imports everything, and checks that each log has the outcome that is measured. */
async function importAll(work: Work, folder: string, root: string, storeName: StoreName): Promise<number> {
  await using store = openDispatchStore(await openStore(storeName, root));
  let events = 0;
  for await (const item of importLogs(store, [folder], { task: taskDir })) {
    if (item.kind === 'failed') throw item.error;
    const isExpected =
      work === 'unchanged'
        ? item.kind === 'unchanged'
        : item.kind === 'imported' && item.isContinued === (work === 'grown by 1 %');
    if (!isExpected) throw new Error(`${work}: a log is ${item.kind}.`);
    if (item.kind === 'imported') events += item.added;
  }
  return events;
}

const [work, folder = '', root = '', storeName] = process.argv.slice(2);
if (work === 'together') {
  const cpus: number[] = [];
  for (const name of ['first', ...Array(5).fill('unchanged')]) {
    const before = process.cpuUsage();
    await importAll(name as Work, folder, root, storeName as StoreName);
    const { user, system } = process.cpuUsage(before);
    cpus.push((user + system) / 1e3);
  }
  process.stdout.write(JSON.stringify({ first: cpus[0], unchanged: cpus.slice(1) }));
} else if (work !== undefined) {
  const before = process.cpuUsage();
  const started = performance.now();
  const events = await importAll(work as Work, folder, root, storeName as StoreName);
  const wall = performance.now() - started;
  const { user, system } = process.cpuUsage(before);
  process.stdout.write(JSON.stringify({ cpu: (user + system) / 1e3, wall, events }));
} else for (const store of storeNames) measure(store);

/** The files as they are first, and as they are when they have grown. Each is a session of its own. */
function writeFiles(
  folder: string,
  bytes: number,
  count: number,
): readonly { path: string; grown: string }[] {
  const whole = join(folder, 'whole.jsonl');
  writeTranscript(whole, (bytes / count) * 1.01);
  const text = readFileSync(whole, 'utf8');
  rmSync(whole);
  const cut = text.lastIndexOf('\n', text.length / 1.01) + 1;
  const logs = join(folder, 'logs');
  mkdirSync(logs);
  return Array.from({ length: count }, (_, at) => {
    const path = join(logs, `${at}.jsonl`);
    // No record of one is a copy of a record of another.
    const number = String(at).padStart(4, '0');
    const own = text
      .replaceAll('-0000-4000-8000-', `-${number}-4000-8000-`)
      .replaceAll(/(msg|req|toolu)_0000/g, `$1_${number}`);
    writeFileSync(path, own.slice(0, cut));
    return { path, grown: own };
  });
}

function measure(storeName: StoreName): void {
  const bytes = Number(process.env.HANSARD_BENCH_MEGABYTES ?? 40) * 1e6;
  const count = Number(process.env.HANSARD_BENCH_FILES ?? 20);
  const runs = new Map<Work, { cpu: number; wall: number; events: number }[]>();
  const together: { first: number; unchanged: readonly number[] }[] = [];
  for (let round = 0; round < 3; round += 1) {
    const folder = temporaryFolder('bench-import-again');
    const files = writeFiles(folder, bytes, count);
    for (const name of works) {
      if (name === 'grown by 1 %') for (const { path, grown } of files) writeFileSync(path, grown);
      const args = [
        ...process.execArgv,
        import.meta.filename,
        name,
        join(folder, 'logs'),
        join(folder, 'store'),
      ];
      const run = JSON.parse(execFileSync(process.execPath, [...args, storeName], { encoding: 'utf8' }));
      runs.set(name, [...(runs.get(name) ?? []), run]);
    }
    const args = [import.meta.filename, 'together', join(folder, 'logs'), join(folder, 'second'), storeName];
    together.push(
      JSON.parse(execFileSync(process.execPath, [...process.execArgv, ...args], { encoding: 'utf8' })),
    );
    rmSync(folder, { recursive: true });
  }
  const medianOf = (name: Work, key: 'cpu' | 'wall') => median((runs.get(name) ?? []).map((run) => run[key]));
  for (const name of works) {
    const result = {
      benchmark: 'import-again',
      store: storeName,
      import: name,
      megabytes: rounded(bytes / 1e6),
      files: count,
      added: runs.get(name)?.[0]?.events ?? 0,
      cpuMs: rounded(medianOf(name, 'cpu')),
      wallMs: rounded(medianOf(name, 'wall')),
      ofFirst: Number((medianOf(name, 'cpu') / medianOf('first', 'cpu')).toFixed(3)),
      ofFirstWall: Number((medianOf(name, 'wall') / medianOf('first', 'wall')).toFixed(3)),
    };
    report(result, name === 'unchanged' ? [{ key: 'ofFirst', atMost: 0.1 }] : []);
  }
  const first = median(together.map((run) => run.first));
  const next = median(together.map((run) => run.unchanged[0] ?? Number.NaN));
  const later = median(together.flatMap((run) => run.unchanged));
  const result = {
    ...{ benchmark: 'import-again', store: storeName, import: 'in one process', files: count },
    ...{ firstMs: rounded(first), nextMs: rounded(next), laterMs: rounded(later) },
    nextOfFirst: Number((next / first).toFixed(3)),
    laterOfFirst: Number((later / first).toFixed(3)),
  };
  report(result, [{ key: 'laterOfFirst', atMost: 0.1 }]);
}
