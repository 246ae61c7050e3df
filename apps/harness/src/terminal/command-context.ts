import { type ChildProcess, spawn } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { Writable } from 'node:stream';
import type { Command } from 'commander';
import type { CliContext } from './context.ts';

/** Short texts are printed without waiting, colours are kept, and the text stays on the screen afterwards. */
const usualPager = 'less';

const usualLess = 'FRX';

/** Why a command cannot have a whole screen, in words; null: it can. */
export function noScreen({ stdin, stdout, env }: CliContext): string | null {
  if (stdout.isTTY !== true) return 'the output is not a terminal';
  if (stdin.isTTY !== true || !('setRawMode' in stdin)) return 'the input is not a terminal';
  if (env.TERM === undefined || env.TERM === 'dumb')
    return 'the terminal has no screen (TERM is dumb or not set)';
  if (env.CI !== undefined && env.CI !== '' && env.CI !== 'false') return 'CI is set';
  if (!stdout.columns || !('rows' in stdout) || !stdout.rows) return 'the terminal reports no size';
  return null;
}

/** The context of the command that runs, which its options change: the zone of times, and a pager for long answers. */
export class CommandContext implements CliContext {
  readonly #given: CliContext;
  readonly stdin: CliContext['stdin'];
  readonly cwd: string;
  readonly env: CliContext['env'];
  readonly signal: AbortSignal;
  readonly interrupt: NonNullable<CliContext['interrupt']>;
  readonly #errors: Writable;
  readonly now: () => number;
  readonly runCommand: NonNullable<CliContext['runCommand']>;
  zone: 'utc' | 'local' = 'local';
  readSignal: AbortSignal;
  #pager: PagedOutput | null = null;

  constructor(given: CliContext, runCommand: NonNullable<CliContext['runCommand']>) {
    this.#given = given;
    this.runCommand = runCommand;
    this.stdin = given.stdin;
    this.cwd = given.cwd;
    this.env = given.env;
    this.signal = given.signal;
    this.interrupt = given.interrupt ?? { now: null };
    this.now = given.now ?? Date.now;
    this.readSignal = given.readSignal;
    // Not a terminal: nothing is written again there.
    this.#errors = new Writable({
      write: (chunk, _encoding, done) => {
        (this.#pager ?? given.stderr).write(String(chunk));
        done();
      },
    });
  }

  get stdout(): CliContext['stdout'] {
    return this.#pager ?? this.#given.stdout;
  }

  /** Notes are read in the pager, as soon as it has the terminal. */
  get stderr(): CliContext['stderr'] {
    const isHidden = this.#pager?.isStarted === true && this.#given.stderr.isTTY === true;
    return isHidden ? this.#errors : this.#given.stderr;
  }

  /** Called before a command runs. One that can use a pager has the option `--no-pager`. */
  begin(command: Command): void {
    const { utc, pager, json, follow, speed, step, maxGap, interactive } = command.opts();
    this.zone = utc === true ? 'utc' : 'local';
    // What is printed as it comes, or asks for lines, is not paged.
    const isLive = [follow, speed, step, maxGap].some((option) => option !== undefined);
    const isScreen = interactive === true && noScreen(this.#given) === null;
    if (pager !== true || json === true || isLive || isScreen) return;
    this.#pager = PagedOutput.open(this.#given);
    if (this.#pager !== null)
      this.readSignal = AbortSignal.any([this.#given.readSignal, this.#pager.readerGone]);
  }

  /** Called after it ran. Resolves when the pager is closed. */
  async end(): Promise<void> {
    const pager = this.#pager;
    this.#pager = null;
    await pager?.finish();
  }
}

/**
 * Standard output of a reading command on a terminal, through a pager: `HANSARD_PAGER`, else `PAGER`, else `less`. The pager starts with the first
 * text. Without one that can be started, the text goes to the terminal itself.
 */
class PagedOutput extends Writable {
  readonly isTTY = true;
  readonly #context: CliContext;
  readonly #command: string;
  readonly #closed = new AbortController();
  #pager: ChildProcess | null = null;
  #ended: Promise<void> = Promise.resolve();

  private constructor(context: CliContext, command: string) {
    super({ decodeStrings: false, highWaterMark: 1 });
    this.#context = context;
    this.#command = command;
  }

  /** Null where the output is not paged: no terminal, a dumb one, no pager, or one that is not found, which is noted if somebody chose it. */
  static open(context: CliContext): PagedOutput | null {
    const { stdout, env, stderr } = context;
    if (stdout.isTTY !== true || env.TERM === 'dumb') return null;
    const chosen = env.HANSARD_PAGER ?? env.PAGER;
    const command = (chosen ?? usualPager).trim();
    if (command === '' || command === 'cat') return null;
    const [program = ''] = command.split(/\s/);
    if (isFound(program, env)) return new PagedOutput(context, command);
    if (chosen !== undefined)
      stderr.write(`hansard: the pager ${JSON.stringify(program)} is not found; --no-pager uses none.\n`);
    return null;
  }

  /** 0, as of terminals that report none, if it is not known. */
  get columns(): number {
    return this.#context.stdout.columns ?? 0;
  }

  /** Whether the pager has the terminal. */
  get isStarted(): boolean {
    return this.#pager !== null;
  }

  /** Aborted when the pager is closed before the end of the text. */
  get readerGone(): AbortSignal {
    return this.#closed.signal;
  }

  override _write(chunk: unknown, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    if (this.#closed.signal.aborted) {
      done();
      return;
    }
    const { stdin } = this.#start();
    if (stdin?.write(String(chunk)) !== false) done();
    else {
      const go = () => {
        stdin.off('drain', go);
        stdin.off('close', go);
        done();
      };
      stdin.on('drain', go).on('close', go);
    }
  }

  /** Ends the text, and waits until its reader closes the pager. */
  async finish(): Promise<void> {
    await new Promise<void>((resolve) => this.end(resolve));
    this.#pager?.stdin?.end();
    await this.#ended;
  }

  #start(): ChildProcess {
    if (this.#pager !== null) return this.#pager;
    const env = { LESS: usualLess, LESSCHARSET: 'utf-8', ...this.#context.env };
    const pager = spawn(this.#command, { shell: true, stdio: ['pipe', 'inherit', 'inherit'], env });
    this.#pager = pager;
    this.#ended = new Promise((resolve) => {
      pager.on('error', () => resolve());
      pager.on('close', () => {
        this.#closed.abort();
        resolve();
      });
    });
    // Its reader closed it before the end: not an error.
    pager.stdin?.on('error', () => this.#closed.abort());
    return pager;
  }
}

/** Whether a program can be started, without starting it. Windows finds programs by rules of its own. */
function isFound(program: string, { PATH = '' }: CliContext['env']): boolean {
  if (process.platform === 'win32') return true;
  const places = program.includes('/')
    ? [program]
    : PATH.split(delimiter).map((folder) => join(folder, program));
  return places.some((place) => {
    try {
      accessSync(place, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
