import type { CapturedEvent, DispatchEnvelope, TaskRecord } from '@hansard/events';

/** The input of a report of a task. */
export interface ReportSource {
  readonly taskDir: string;
  readonly task: TaskRecord | null;
  /** The dispatches of the report. */
  readonly envelopes: readonly DispatchEnvelope[];
  /** The events of one of them, in append order. */
  readEvents(dispatchId: string): AsyncIterable<CapturedEvent>;
}

export interface ReportOptions {
  /**
   * The largest number of events of a dispatch that is shown with all views. A longer one is shown as one line per event,
   * written while it is read. Absent: 10,000.
   */
  readonly wholeUpTo?: number;
}
