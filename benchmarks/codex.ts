/**
 * Measures the import of a thread of Codex into the JSON-file store beside `JSON.parse` of the same lines, in processor time of all threads, each in a
 * process of its own; medians of three. `HANSARD_CODEX_ROLLOUT` names a rollout to use in place of the generated one of 60 MB.
 */
import { execFileSync } from 'node:child_process';
import { closeSync, openSync, rmSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { readLines } from '@hansard/claude';
import { openDispatchStore } from '@hansard/dispatch';
import { importLogs } from '@hansard/import';
import { median } from './measure.ts';
import { report, rounded } from './report.ts';
import { openStore } from './stores.ts';
import { temporaryFolder } from './temporary-folder.ts';

const heapFlags = ['--max-semi-space-size=8', '--heap-growing-percent=30'];
const sentence = 'The route table has three candidates;\nthe second one is cheaper at night. ';

/** Rounds of a thread: a thought, a call, its output of 3 kB, and the usage. */
function writeRollout(path: string, bytes: number): void {
  const file = openSync(path, 'w');
  const line = (type: string, payload: object, at: number) => {
    const timestamp = new Date(Date.parse('2026-03-01T09:30:00.000Z') + at * 1_000).toISOString();
    return writeSync(file, `${JSON.stringify({ timestamp, type, payload })}\n`);
  };
  let written = line('session_meta', { id: '0199a213-0000-7000-8000-000000000001', cwd: '/srv' }, 0);
  for (let round = 1; written < bytes; round += 1) {
    const item = (payload: object) => line('response_item', payload, round);
    const usage = { input_tokens: 900 * round, cached_input_tokens: 800 * round, output_tokens: 30 * round };
    const summary = [{ type: 'summary_text', text: sentence.repeat(2) }];
    written += item({ type: 'reasoning', summary, encrypted_content: 'gAAA'.repeat(300) });
    const call = { name: 'shell', call_id: `call_${round}` };
    written += item({
      type: 'function_call',
      ...call,
      arguments: JSON.stringify({ command: ['rg', sentence] }),
    });
    const output = sentence.repeat(40);
    written += item({ type: 'function_call_output', call_id: `call_${round}`, output });
    const info = { total_token_usage: usage, last_token_usage: { input_tokens: 900, output_tokens: 30 } };
    written += line('event_msg', { type: 'token_count', info }, round);
  }
  closeSync(file);
}

const works: Record<string, (file: string, root: string) => Promise<void>> = {
  async parse(file) {
    for await (const { text } of readLines(file)) JSON.parse(text);
  },
  async lines(file) {
    for await (const line of readLines(file)) if (line.bytes < 0) throw new Error('no line');
  },
  async import(file, root) {
    await using store = openDispatchStore(await openStore('store-jsonfile', root));
    for await (const item of importLogs(store, [file], { task: 'benchmarks/tasks/codex' }))
      if (item.kind !== 'imported') throw new Error(item.kind);
  },
};

const [name = '', file = '', root = ''] = process.argv.slice(2);
const work = works[name];
if (work === undefined) measure();
else {
  const before = process.cpuUsage();
  await work(file, root);
  const { user, system } = process.cpuUsage(before);
  process.stdout.write(JSON.stringify([(user + system) / 1e3, process.resourceUsage().maxRSS / 1e3]));
}

function measure(): void {
  const folder = temporaryFolder('bench-codex');
  const path = process.env.HANSARD_CODEX_ROLLOUT ?? join(folder, 'rollout.jsonl');
  if (process.env.HANSARD_CODEX_ROLLOUT === undefined) writeRollout(path, 60e6);
  const taken = (step: string, round: number) => {
    const args = [...process.execArgv, ...heapFlags, import.meta.filename, step, path];
    const printed = execFileSync(process.execPath, [...args, join(folder, `store-${round}`)], {
      encoding: 'utf8',
    });
    return JSON.parse(printed) as [number, number];
  };
  const rounds = [1, 2, 3].map((round) => ({
    lines: taken('lines', round),
    parse: taken('parse', round),
    import: taken('import', round),
  }));
  const of = (step: 'lines' | 'parse' | 'import') => median(rounds.map((round) => round[step][0]));
  const parsing = of('parse') - of('lines');
  report(
    {
      ...{ benchmark: 'codex', megabytes: rounded(statSync(path).size / 1e6), linesMs: rounded(of('lines')) },
      ...{ parsingMs: rounded(parsing), importMs: rounded(of('import')) },
      ofParsing: rounded(of('import') / parsing),
      megabytesResident: rounded(median(rounds.map((round) => round.import[1]))),
    },
    [{ key: 'ofParsing', atMost: 6 }],
  );
  rmSync(folder, { recursive: true });
}
