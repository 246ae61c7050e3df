import type { DispatchEnvelope } from '@hansard/events';
import type { StoreError } from '@hansard/provider';
import type { DispatchLog } from './dispatch-log.ts';
import type { DispatchRef } from './dispatch-ref.ts';

/** An entry of a listing: `'error' in entry` says whether the dispatch cannot be read. */
export type DispatchEntry = ListedDispatch | UnreadableDispatch;

/** A dispatch of a listing, as it was when it was listed. It is a reference to the dispatch. */
export interface ListedDispatch extends DispatchRef {
  readonly envelope: DispatchEnvelope;
  /** The `timestamp` of the last event, or `startedAt` without events. Null if that time is not recorded, or the last event cannot be read. */
  readonly lastActiveAt: string | null;
  /** The log of the dispatch, for reading. Nothing is opened before it is read. A store without the dispatch then fails. */
  readonly log: DispatchLog;
}

/** A dispatch of a listing that cannot be read, or a task whose dispatches cannot be listed. */
export interface UnreadableDispatch {
  readonly taskDir: string;
  /** Absent: the dispatches of the task cannot be listed. */
  readonly dispatchId?: string;
  /** STORE_CORRUPT, STORE_NEWER or STORE_UNAVAILABLE, with the place. */
  readonly error: StoreError;
}

/** A page of a listing. */
export interface DispatchEntries {
  readonly dispatches: DispatchEntry[];
  /** The `after` of the next page; null after the last dispatch. */
  readonly next: string | null;
}
