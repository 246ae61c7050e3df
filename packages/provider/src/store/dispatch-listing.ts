import type { DispatchEnvelope, DispatchStatus } from '@hansard/events';
import type { StoreError } from './store-errors.ts';

/** The filters hide no dispatch that cannot be read, except `taskDir` and `internal`. */
export interface ListDispatchesOptions {
  /** Only the dispatches of this task, and not those of tasks below it. Absent: of every task, as `internal` says. */
  readonly taskDir?: string;
  /** Without a `taskDir`: only the dispatches of tasks below `_hansard`. Absent: false. */
  readonly internal?: boolean;
  /** Only dispatches with one of these statuses. Absent: with any. */
  readonly status?: readonly DispatchStatus[];
  /** Only dispatches whose `startedAt` is this time or later. A dispatch without a `startedAt` is not among them. */
  readonly startedSince?: string;
  /**
   * By `startedAt`, then by the UTF-8 bytes of `taskDir`, then by `dispatchId`; `newest` is the reverse. A dispatch without a
   * `startedAt` is before all that have one, and so the last in `newest`. In both orders the dispatches that cannot be read follow the others, by `taskDir` and `dispatchId`. Absent: `oldest`.
   */
  readonly order?: 'oldest' | 'newest';
  /** The `next` of the page before, with the same other options. Absent: the first page. */
  readonly after?: string;
  /** The maximum number of dispatches in the page, at least 1. Absent: 1,000. */
  readonly limit?: number;
}

/**
 * A page of dispatches. A dispatch that exists from the first page to the last, and whose `startedAt` does not change, is on exactly
 * one of them, including when others are created and deleted meanwhile.
 */
export interface DispatchPage {
  readonly dispatches: DispatchListing[];
  /**
   * The `after` of the next page; null after the last dispatch. It names the last dispatch of this page by its place in the
   * order, so that it stays valid when that dispatch is deleted. Only the store reads it.
   */
  readonly next: string | null;
}

export interface DispatchListing {
  readonly taskDir: string;
  /** Null: the list of the dispatches of the task cannot be read. */
  readonly dispatchId: string | null;
  /** Null if it cannot be read. */
  readonly envelope: DispatchEnvelope | null;
  /**
   * The `timestamp` of the last event, or `startedAt` without events. Null if that time is not recorded, or if the envelope or the last
   * event cannot be read.
   */
  readonly lastActiveAt: string | null;
  /** The reason why the envelope cannot be read: STORE_CORRUPT, STORE_NEWER or STORE_UNAVAILABLE, as `getDispatchEnvelope` throws it. */
  readonly error?: StoreError;
}

type Started = Pick<DispatchEnvelope, 'startedAt' | 'dispatchId'>;

/** The order of `getDispatchEnvelopes`, for `sort`: by `startedAt`, dispatches without a start first, then `dispatchId`. */
export function compareByStart(left: Started, right: Started): number {
  return compare(left.startedAt ?? '', right.startedAt ?? '') || compare(left.dispatchId, right.dispatchId);
}

function compare(left: string, right: string): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}
