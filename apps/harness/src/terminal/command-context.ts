import { Writable } from 'node:stream';
import type { Command } from 'commander';
import type { CliContext } from './context.ts';
import { PagedOutput } from './paged-output.ts';

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
