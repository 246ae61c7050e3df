import type { CapturedEvent, DispatchEnvelope } from '@hansard/events';
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

/** What the follower of a task receives. An event is a reference to its dispatch. */
export type TaskFollowItem =
  /** A dispatch, once, before its first event. */
  | { readonly kind: 'dispatch'; readonly dispatch: ListedDispatch }
  | {
      readonly kind: 'event';
      readonly taskDir: string;
      readonly dispatchId: string;
      readonly position: number;
      readonly event: CapturedEvent;
    }
  /** A dispatch that cannot be read, once for each reason. The others are followed. Its events follow when it can be read. */
  | ({ readonly kind: 'unreadable' } & UnreadableDispatch)
  /** Everything stored when the following began has been delivered. Comes once. */
  | { readonly kind: 'caught_up' };

export interface TaskFollowOptions {
  /** By `dispatchId`, the position of the last event already seen. A dispatch that is not named is read from the beginning. */
  readonly after?: Readonly<Record<string, number>>;
  /** Ends the following. */
  readonly signal?: AbortSignal;
  /** How many events are read at a time. A slow follower keeps at most this number in memory. Absent: 256. */
  readonly pageSize?: number;
}
