import type { Fidelity } from '@hansard/events';
import type { PriceTable } from '@hansard/facts';
import type { LogImporterProvider } from '@hansard/provider';

export interface ImportOptions {
  /** The `taskDir` of the task. Absent: the one that each log names. */
  readonly task?: string | undefined;
  /** The id of the format. Absent: the records show it. */
  readonly as?: string | undefined;
  /** For logs that can be recorded at either. Absent: that of an existing dispatch, or else `full`. */
  readonly fidelity?: Fidelity | undefined;
  /** Ends the import after a batch. The dispatch of that batch is `aborted`, until another import completes it. */
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: ImportProgress) => void) | undefined;
  /** Absent: `logImporters`. */
  readonly importers?: readonly LogImporterProvider[] | undefined;
  /** Reads logs again whose files have not changed since their last complete import. */
  readonly reread?: boolean | undefined;
  /** Estimates the cost of calls that the log states no cost for. Absent: `standardPrices`. `false`: no estimates. */
  readonly prices?: PriceTable | false | undefined;
  /**
   * After how many milliseconds without a record a log without an end has ended: `completed` after a final text, `aborted` after
   * an interruption, else `crashed`. The time of the files counts where no record has one. Absent: an hour.
   */
  readonly quietAfterMs?: number | undefined;
  /** Milliseconds since 1970, for logs without times, and to find quiet logs. Absent: the system clock. */
  readonly now?: (() => number) | undefined;
}

/** Bytes of all files of the import. */
export interface ImportProgress {
  readonly bytes: number;
  readonly of: number;
}
