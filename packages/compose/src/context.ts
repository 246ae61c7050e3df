import { isHansardError, messageOf } from '@hansard/events';

/** What a harness uses of the process that it runs in. */
export interface HarnessContext {
  /** The folder that relative paths begin in. */
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Stops what runs: agents are aborted, and their sessions end with `aborted`. Absent: nothing does. */
  readonly signal?: AbortSignal;
  /** Milliseconds since 1970. Absent: the time of the system. */
  readonly now?: () => number;
  /** Receives what a person should know and no result says: a repair, an outage, a plugin that was not loaded. Absent: a process warning. */
  readonly onNote?: (line: string) => void;
}

export function noteTo({ onNote }: Pick<HarnessContext, 'onNote'>, line: string): void {
  if (onNote === undefined) process.emitWarning(line, { type: 'HansardWarning' });
  else onNote(line);
}

/** An error in a line, as notes have it. */
export function inWords(error: unknown): string {
  return isHansardError(error) ? `${error.code}: ${error.message}` : messageOf(error);
}
