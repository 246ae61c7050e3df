import type { CapturedEvent, DispatchEnvelope, TaskRecord } from '@hansard/events';

/** What a report of a task is made from. */
export interface ReportSource {
  readonly taskDir: string;
  readonly task: TaskRecord | null;
  /** The dispatches that the report is about. */
  readonly envelopes: readonly DispatchEnvelope[];
  /** The events of one of them, in append order. */
  readEvents(dispatchId: string): AsyncIterable<CapturedEvent>;
}

export interface ReportOptions {
  /**
   * Of how many events a dispatch may be to be shown from all sides; a longer one is shown as one line for each event,
   * written as it is read. Absent: 10,000.
   */
  readonly wholeUpTo?: number;
}
