/**
 * Measures the import of a Claude Code transcript through the facade into the JSON-file store: megabytes per second of
 * processor time and peak memory, beside the two steps that every import needs, reading the lines and parsing them. Each
 * runs in its own process. `HANSARD_BENCH_MEGABYTES` sets the size (default: 100). Every record is new. The records of the
 * generated transcript have the proportions of real ones; those of the corpus, if it is available, are real.
 */
import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { openClaudeTranscript, readLines } from '@hansard/claude';
import { openDispatchStore } from '@hansard/dispatch';
import { recordLog } from '@hansard/import';
import { isCorpusThere, writeCorpusTranscript } from './corpus-transcripts.ts';
import { report, rounded } from './report.ts';
import { openStore } from './stores.ts';
import { temporaryFolder } from './temporary-folder.ts';
import { writeTranscript } from './transcripts.ts';

const taskDir = 'benchmarks/tasks/import';
/** The README of `@hansard/import` recommends them for large logs. `hansard import` sets the same limits at run time. */
const heapFlags = ['--max-semi-space-size=8', '--heap-growing-percent=30'];

async function lines(file: string): Promise<void> {
  for await (const line of readLines(file)) if (line.bytes < 0) throw new Error('no line');
}

async function parse(file: string): Promise<void> {
  for await (const { text } of readLines(file)) JSON.parse(text);
}

async function map(file: string): Promise<void> {
  const log = await openClaudeTranscript(file);
  for await (const events of log.read()) if (events.length === 0) throw new Error('no event');
}

async function importInto(file: string, root: string): Promise<void> {
  await using store = openDispatchStore(await openStore('store-jsonfile', root));
  await recordLog(store, taskDir, await openClaudeTranscript(file));
}

const works: Record<string, (file: string, root: string) => Promise<void>> = {
  'read its lines': lines,
  'and parse them': parse,
  'and map them': map,
  import: importInto,
  'import it again': importInto,
};

const [name, file = '', root = '', size = '0'] = process.argv.slice(2);
const work = works[name ?? ''];
if (work !== undefined) {
  const before = process.cpuUsage();
  const mainBefore = process.threadCpuUsage();
  await work(file, root);
  const { user, system } = process.cpuUsage(before);
  const ofMainThread = process.threadCpuUsage(mainBefore);
  const seconds = (user + system) / 1e6;
  const megabytesPerSecond = Number(size) / 1e6 / seconds;
  const mainMegabytesPerSecond = Number(size) / (ofMainThread.user + ofMainThread.system);
  process.stdout.write(
    JSON.stringify({
      seconds,
      megabytesPerSecond,
      mainMegabytesPerSecond,
      rss: process.resourceUsage().maxRSS / 1e3,
    }),
  );
} else {
  measure('made', writeTranscript);
  if (isCorpusThere) measure('corpus', writeCorpusTranscript);
}

function measure(transcript: string, write: (path: string, bytes: number) => number): void {
  const folder = temporaryFolder('bench-import');
  const path = join(folder, 'session.jsonl');
  const bytes = write(path, Number(process.env.HANSARD_BENCH_MEGABYTES ?? 100) * 1e6);
  let parsing = 0;
  let reading = 0;
  for (const step of Object.keys(works)) {
    const args = [
      ...process.execArgv,
      ...heapFlags,
      import.meta.filename,
      step,
      path,
      join(folder, 'store'),
      String(bytes),
    ];
    const { seconds, megabytesPerSecond, mainMegabytesPerSecond, rss } = JSON.parse(
      execFileSync(process.execPath, args, { encoding: 'utf8' }),
    );
    if (step === 'read its lines') reading = seconds;
    if (step === 'and parse them') parsing = seconds - reading;
    const result = {
      benchmark: 'import',
      transcript,
      work: step,
      megabytes: rounded(bytes / 1e6),
      megabytesPerSecond: rounded(megabytesPerSecond),
      mainMegabytesPerSecond: rounded(mainMegabytesPerSecond),
      ...(parsing > 0
        ? { ofParsing: rounded(seconds / parsing), shareOfParsing: rounded(parsing / seconds) }
        : {}),
      peakRssMegabytes: rounded(rss),
    };
    const isImport = step.startsWith('import');
    report(result, isImport ? [{ key: 'peakRssMegabytes', atMost: 200 }] : []);
  }
  rmSync(folder, { recursive: true });
}
