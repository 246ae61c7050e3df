import type { CapturedEvent } from '@hansard/events';
import type { Awaitable } from '@hansard/provider';

export type FollowItem =
  | { readonly kind: 'event'; readonly position: number; readonly event: CapturedEvent }
  /** Everything stored so far has been delivered; the events that follow are live. Comes once. */
  | { readonly kind: 'caught_up'; readonly position: number };

export interface FollowOptions {
  /** The position of the last event already seen. Absent or -1: from the beginning. */
  readonly after?: number;
  /** Ends the following. */
  readonly signal?: AbortSignal;
  /** How many events are read at a time. A slow follower keeps at most this number in memory. Absent: 256. */
  readonly pageSize?: number;
  /** Called whenever everything stored has been delivered. True ends the following after one more read. Absent: never. */
  readonly until?: () => Awaitable<boolean>;
}
