import type { CapturedEvent } from '@hansard/events';

export interface SearchEventsOptions {
  /** Absent: every task. Dispatches below `_hansard` have no events. */
  readonly taskDir?: string;
  /** Absent: every dispatch of the task. Only together with `taskDir`. */
  readonly dispatchId?: string;
  /** The maximum number of hits, at least 1. Absent: 100. */
  readonly limit?: number;
  /** Called while events are added to an index before the search, with how many were added so far. */
  readonly onIndexed?: (events: number) => void;
}

export interface SearchHit {
  readonly taskDir: string;
  readonly dispatchId: string;
  readonly position: number;
  readonly event: CapturedEvent;
}
