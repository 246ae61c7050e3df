import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { runCli } from '../src/cli.ts';

export const demoStream = (name: string) => fileURLToPath(new URL(`../demo/${name}.jsonl`, import.meta.url));

export interface Answer {
  readonly code: number;
  readonly out: string;
  readonly err: string;
  /** The output as one JSON value per line. */
  json(): unknown[];
}

/** A folder of its own with a `hansard` command that runs in it. */
export interface CommandLine extends Disposable {
  readonly cwd: string;
  hansard(...args: string[]): Promise<Answer>;
  /** The same as a process of its own, with whatever it writes to its terminal. */
  process(...args: string[]): Promise<Answer>;
  /** Like `hansard`, with a signal, and a look at each piece of output as it comes. */
  start(
    args: readonly string[],
    options: { readonly signal: AbortSignal; readonly onOutput?: (text: string) => void },
  ): Promise<Answer>;
}

export function commandLine(): CommandLine {
  const cwd = mkdtempSync(join(tmpdir(), 'hansard-cli-'));
  const start: CommandLine['start'] = async (args, { signal, onOutput }) => {
    const out = collect(onOutput);
    const err = collect();
    const context = {
      stdout: out.stream,
      stderr: err.stream,
      stdin: new PassThrough(),
      cwd,
      env: {},
      signal,
    };
    return answer(await runCli(args, context), out.text(), err.text());
  };
  return {
    cwd,
    start,
    hansard: (...args) => start(args, { signal: new AbortController().signal }),
    process: (...args) => runProcess(args, cwd),
    [Symbol.dispose]: () => rmSync(cwd, { recursive: true, force: true }),
  };
}

function answer(code: number, out: string, err: string): Answer {
  const lines = () => out.split('\n').filter((line) => line !== '');
  return { code, out, err, json: () => lines().map((line) => JSON.parse(line)) };
}

function runProcess(args: readonly string[], cwd: string): Promise<Answer> {
  const binary = fileURLToPath(new URL('../src/bin.ts', import.meta.url));
  const child = spawn(process.execPath, ['--conditions=@hansard/source', binary, ...args], {
    cwd,
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 15_000,
  });
  const out = collect();
  const err = collect();
  child.stdout.pipe(out.stream);
  child.stderr.pipe(err.stream);
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve(answer(code ?? -1, out.text(), err.text())));
  });
}

function collect(onOutput?: (text: string) => void): { readonly stream: Writable; text(): string } {
  const chunks: string[] = [];
  const stream = new Writable({
    write(chunk, _encoding, done) {
      chunks.push(String(chunk));
      onOutput?.(String(chunk));
      done();
    },
  });
  return { stream, text: () => chunks.join('') };
}
