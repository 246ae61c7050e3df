import type { CapturedEvent } from '@hansard/events';
import type { ListedDispatch, UnreadableDispatch } from './dispatch-entry.ts';

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
