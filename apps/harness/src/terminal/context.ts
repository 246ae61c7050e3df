import type { Readable, Writable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { neutraliseControls } from '@hansard/events/plain';
import { harmlessJson } from './harmless-json.ts';

/** Everything of its process that a command may use. */
export interface CliContext {
  readonly stdout: Writable & { readonly isTTY?: boolean; readonly columns?: number };
  readonly stderr: Writable & { readonly isTTY?: boolean; readonly columns?: number };
  readonly stdin: Readable & { readonly isTTY?: boolean };
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The zone of the times that people read and write. Absent: `local`. */
  readonly zone?: 'utc' | 'local';
  /** The time in milliseconds since 1970. Absent: that of the system. */
  readonly now?: () => number;
  /** Aborted by Ctrl-C, SIGTERM or SIGHUP; the reason names it. */
  readonly signal: AbortSignal;
  /** What Ctrl-C does first, in place of ending the command. It returns whether it did something. Absent: Ctrl-C ends the command. */
  readonly interrupt?: { now: (() => boolean) | null };
  /** Aborted by the same, and when the reader of the output has gone (`| head`). Ends a command that only reads. */
  readonly readSignal: AbortSignal;
  /** Runs another command with the same output, and returns its exit code. Absent: the command was not called through `runCli`. */
  readonly runCommand?: (args: readonly string[]) => Promise<number>;
}

/** Lets signals be handled between two reads, because a store can answer synchronously. @throws AbortError after `readSignal` */
export function letInterrupt({ readSignal }: CliContext): Promise<void> {
  return setImmediate(undefined, { signal: readSignal });
}

/** The columns of the terminal; undefined if the output is not a terminal or reports none. */
export function terminalWidth({ stdout }: CliContext): number | undefined {
  // Some terminals, such as those of build machines, report 0 columns.
  return stdout.isTTY === true && stdout.columns !== 0 ? stdout.columns : undefined;
}

/** Prints text, which can quote a log: control characters become visible. */
export function printLine(context: CliContext, line: string): void {
  context.stdout.write(`${neutraliseControls(line)}\n`);
}

/** Prints text that has colours. Everything in it that quotes a log must be harmless already. */
export function printPainted(context: CliContext, text: string): void {
  context.stdout.write(`${text}\n`);
}

/** Prints a JSON document on one line. Control characters become `\u` escapes. */
export function printJson(context: CliContext, value: unknown): void {
  context.stdout.write(`${harmlessJson(JSON.stringify(value))}\n`);
}

/** Prints a note beside the answer, on standard error, like `printLine`. */
export function note(context: CliContext, line: string): void {
  context.stderr.write(`${neutraliseControls(line)}\n`);
}
