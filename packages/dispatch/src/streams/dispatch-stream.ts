import type { CapturedEvent, Delta } from '@hansard/events';

/**
 * The events of a dispatch, live or replayed. `DispatchLog.stream`, `DispatchRun.stream` and `Session.stream` return a live
 * stream, `replayDispatch` a replay of a stored dispatch. A consumer need not know which.
 *
 * An iteration yields the events of the log, each once and in order, and nothing else. It reads after a cursor of its own, so
 * a slow consumer delays nobody, misses nothing and keeps at most a page in memory. Each iteration starts again after
 * `after`. Leaving the loop frees its resources.
 */
export interface DispatchStream extends AsyncIterable<StreamedEvent> {
  /**
   * The same events with the deltas between them. Deltas are not recorded (D8). An iteration receives those that are published
   * after it begins, each before the events that were recorded after it. They wait for a slow consumer in a bounded queue;
   * when it is full, the waiting deltas are dropped and counted. A replay has none.
   */
  withDeltas(): AsyncIterable<StreamItem>;
}

/** An event of the log and its position: a cursor for `after`. */
export interface StreamedEvent {
  readonly kind: 'event';
  readonly position: number;
  readonly event: CapturedEvent;
}

export type StreamItem =
  | StreamedEvent
  | { readonly kind: 'delta'; readonly delta: Delta }
  /** The number of deltas that were dropped here, because the consumer was too slow. */
  | { readonly kind: 'deltas_dropped'; readonly count: number };

export interface StreamOptions {
  /** The position of the last event already seen. Absent or -1: from the beginning. */
  readonly after?: number;
  /** Ends the stream. */
  readonly signal?: AbortSignal;
  /** How many events are read at a time, and the most that are kept in memory. Absent: 256. */
  readonly pageSize?: number;
}

export interface LiveStreamOptions extends StreamOptions {
  /** The most deltas that wait for each iteration. Absent: 1,000. */
  readonly deltaLimit?: number;
}
