import type { CapturedEvent } from '@hansard/events';
import type { FormatReport } from '../format-diagnostic.ts';
import type { LogOrigin } from '../session-records/log-origin.ts';

/** A file of a game log. Its lines show which streams it holds. */
export interface GameLogFile {
  /** Its name in messages and diagnostics. */
  readonly file?: string;
  readonly source: string | Uint8Array;
}

/**
 * One game as the events of one dispatch. When the log has grown, each game has the same events and then more. In a log
 * without times, the times of the events may differ.
 */
export interface ReadGame {
  readonly events: readonly CapturedEvent[];
  readonly report: FormatReport;
  /** Whether the log has the end of the game. */
  readonly isComplete: boolean;
  readonly origin: LogOrigin;
}

export interface ReadGameOptions {
  /** Milliseconds since 1970: the time of a log without any time. */
  readonly now?: () => number;
}
