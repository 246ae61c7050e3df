import type { Readable, Writable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { neutraliseControls } from '@hansard/views/basics';

/** All that a command may touch of the process it runs in. */
export interface CliContext {
  readonly stdout: Writable & { readonly isTTY?: boolean; readonly columns?: number };
  readonly stderr: Writable & { readonly isTTY?: boolean };
  readonly stdin: Readable & { readonly isTTY?: boolean };
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Aborted by Ctrl-C, or where the process is asked to end (SIGTERM, SIGHUP); the reason says by which. */
  readonly signal: AbortSignal;
  /** Aborted by Ctrl-C, and when nobody takes the output any more (`| head`): the end for a command that only reads. */
  readonly readSignal: AbortSignal;
}

/** Between two pieces of reading, for a store may answer at once, always. @throws AbortError after `readSignal` */
export function letInterrupt({ readSignal }: CliContext): Promise<void> {
  return setImmediate(undefined, { signal: readSignal });
}

/** The most columns that a line may take: those of the terminal; undefined where it has none or the output goes elsewhere. */
export function terminalWidth({ stdout }: CliContext): number | undefined {
  // Some terminals, such as those of build machines, say that they have 0 columns.
  return stdout.isTTY === true && stdout.columns !== 0 ? stdout.columns : undefined;
}

export function printLine(context: CliContext, line: string): void {
  context.stdout.write(`${line}\n`);
}

/** One JSON document on one line. */
export function printJson(context: CliContext, value: unknown): void {
  printLine(context, JSON.stringify(value));
}

/** Something the user should know that is not the answer; on standard error. It may quote a log: no terminal obeys it. */
export function note(context: CliContext, line: string): void {
  context.stderr.write(`${neutraliseControls(line)}\n`);
}
