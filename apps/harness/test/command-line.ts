import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { runCli } from '../src/cli.ts';
import type { CliContext } from '../src/terminal/context.ts';

export const demoStream = (name: string) => fileURLToPath(new URL(`../demo/${name}.jsonl`, import.meta.url));

export interface Answer {
  readonly code: number;
  readonly out: string;
  readonly err: string;
  /** The output as one JSON value per line. */
  json(): unknown[];
}

interface StartOptions {
  readonly signal: AbortSignal;
  readonly onOutput?: (text: string) => void;
  readonly onError?: (text: string) => void;
  readonly stdin?: CliContext['stdin'];
  readonly env?: CliContext['env'];
  readonly interrupt?: CliContext['interrupt'];
  /** The clock of the command. Absent: that of the system. */
  readonly now?: () => number;
  /** The output is a terminal with this number of columns. */
  readonly columns?: number;
}

/** A folder of its own with a `hansard` command that runs in it. */
export interface CommandLine extends Disposable {
  readonly cwd: string;
  hansard(...args: string[]): Promise<Answer>;
  /** The same as a process of its own, with whatever it writes to its terminal. */
  process(...args: string[]): Promise<Answer>;
  /** The same, read by somebody who goes away at the first output, as `head` does; its exit code. */
  processUntilFirstOutput(...args: string[]): Promise<number | null>;
  /** Like `hansard`, with a signal, and a look at each piece of output as it comes. */
  start(args: readonly string[], options: StartOptions): Promise<Answer>;
}

export function commandLine(): CommandLine {
  const cwd = mkdtempSync(join(tmpdir(), 'hansard-cli-'));
  const start: CommandLine['start'] = (args, options) => hansardIn(cwd, args, options);
  return {
    cwd,
    start,
    hansard: (...args) => hansardIn(cwd, args),
    process: (...args) => runProcess(args, cwd),
    processUntilFirstOutput: (...args) => {
      const child = spawnProcess(args, cwd);
      child.stdout.once('data', () => child.stdout.destroy());
      return new Promise((resolve, reject) => child.on('error', reject).on('close', resolve));
    },
    [Symbol.dispose]: () => rmSync(cwd, { recursive: true, force: true }),
  };
}

/** Runs `hansard` in a folder, in this process. */
export async function hansardIn(
  cwd: string,
  args: readonly string[],
  options: StartOptions = { signal: new AbortController().signal },
): Promise<Answer> {
  const { signal, onOutput, onError, stdin = new PassThrough(), columns, now } = options;
  const { env = { HOME: join(cwd, 'home') } } = options;
  const out = collect(onOutput);
  const err = collect(onError);
  const context = {
    stdout: columns === undefined ? out.stream : Object.assign(out.stream, { isTTY: true, columns }),
    stderr: err.stream,
    stdin,
    cwd,
    env,
    signal,
    readSignal: signal,
    ...(now === undefined ? {} : { now }),
    ...(options.interrupt === undefined ? {} : { interrupt: options.interrupt }),
  };
  return answer(await runCli(args, context), out.text(), err.text());
}

function answer(code: number, out: string, err: string): Answer {
  const lines = () => out.split('\n').filter((line) => line !== '');
  return { code, out, err, json: () => lines().map((line) => JSON.parse(line)) };
}

/** What Node is given to run the command from its source. */
export const commandFromSource = [
  '--conditions=@hansard/source',
  fileURLToPath(new URL('../src/bin.ts', import.meta.url)),
] as const;

function spawnProcess(args: readonly string[], cwd: string) {
  return spawn(process.execPath, [...commandFromSource, ...args], {
    cwd,
    env: { ...process.env, HOME: join(cwd, 'home') },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 30_000,
    killSignal: 'SIGKILL',
  });
}

function runProcess(args: readonly string[], cwd: string): Promise<Answer> {
  const child = spawnProcess(args, cwd);
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
