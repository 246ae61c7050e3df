/**
 * What it costs to import a transcript of Claude Code through the facade into the JSON-file store: megabytes a second of
 * processor time, beside reading its lines and parsing them, which no import can do without; and the memory it takes.
 * Each in a process of its own. `HANSARD_BENCH_MEGABYTES` sets the size (default: 100). Every record is new: those of the
 * made transcript have the proportions of real ones; those of the corpus, where it is there, are real ones.
 */
import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { HeapRestraint } from '../apps/harness/src/import/heap-restraint.ts';
import { openClaudeTranscript } from '../packages/claude/src/index.ts';
import { readLines } from '../packages/claude/src/json-lines/read-lines.ts';
import { openDispatchStore } from '../packages/dispatch/src/index.ts';
import { recordLog } from '../packages/import/src/index.ts';
import { isCorpusThere, writeCorpusTranscript } from './corpus-transcripts.ts';
import { report, rounded } from './report.ts';
import { openStore } from './stores.ts';
import { temporaryFolder } from './temporary-folder.ts';
import { writeTranscript } from './transcripts.ts';

const taskDir = 'benchmarks/tasks/import';

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
  const store = openDispatchStore(await openStore('store-jsonfile', root));
  using heap = new HeapRestraint();
  await recordLog(store, taskDir, await openClaudeTranscript(file), { onProgress: () => heap.hold() });
  await store.close();
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
