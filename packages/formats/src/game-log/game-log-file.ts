import type { CapturedEvent } from '@hansard/events';
import type { FormatReport } from '../format-diagnostic.ts';
import type { LogOrigin } from '../session-records/log-origin.ts';

/** A file of a game log, or several in one; which stream it is, its lines show. */
export interface GameLogFile {
  /** How messages and diagnostics call it. */
  readonly file?: string;
  readonly source: string | Uint8Array;
}

/**
 * One game as the events of one dispatch. Of a log that has grown, each game has the same events and then more: where
 * nothing has a time, but for their time.
 */
export interface ReadGame {
  readonly events: readonly CapturedEvent[];
  readonly report: FormatReport;
  /** Whether the log says how the game ended. */
  readonly isComplete: boolean;
  readonly origin: LogOrigin;
}

export interface ReadGameOptions {
  /** Milliseconds since 1970: the time of a log in which nothing has one. */
  readonly now?: () => number;
}
