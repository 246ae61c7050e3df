/** What `watch` reports: the whole store, one task, or one dispatch. */
export interface WatchScope {
  /** Absent: every task. */
  readonly taskDir?: string;
  /** Absent: every dispatch of the task, and its record. Only together with `taskDir`. */
  readonly dispatchId?: string;
}

/** Ends the calls. Safe to call twice, and after the store was closed. */
export type StopWatching = () => void;
