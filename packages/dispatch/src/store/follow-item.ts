import type { CapturedEvent } from '@hansard/events';
import type { Awaitable } from '@hansard/provider';

export type FollowItem =
  | { readonly kind: 'event'; readonly position: number; readonly event: CapturedEvent }
  /** Everything that was stored by now has been given; what comes next is live. Comes once. */
  | { readonly kind: 'caught_up'; readonly position: number };

export interface FollowOptions {
  /** The position of the last event already seen. Absent or -1: from the beginning. */
  readonly after?: number;
  /** Ends the following. */
  readonly signal?: AbortSignal;
  /** How many events are read at a time, and so the most that are held for a slow follower. Absent: 256. */
  readonly pageSize?: number;
  /** Asked whenever all that is stored was given. True ends the following, after one more look. Absent: never. */
  readonly until?: () => Awaitable<boolean>;
}
