import type { CapturedEvent, Delta } from '@hansard/events';

/**
 * What happens in a dispatch, live or once more: `DispatchLog.stream`, `DispatchRun.stream` and `Session.stream` give one
 * that is live, `replayDispatch` one of what is stored. Who takes one need not know which.
 *
 * Iterated by itself it gives events and nothing else: those of the log, each once and in order, read behind a cursor of
 * the iteration's own. So one that is slow slows nobody, misses nothing and holds a page at most. Each iteration starts
 * anew behind `after`; leaving the loop frees what it holds.
 */
export interface DispatchStream extends AsyncIterable<StreamedEvent> {
  /**
   * The same events with the deltas between them, which come on a channel of their own and are in no log (D8): from when
   * the iteration begins, and each ahead of the events that were recorded after it. They wait for a slow taker in a
   * bounded queue; when it is full, what waits in it is left out and counted. A replay has none.
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
  /** So many deltas were left out here, for they were not taken fast enough. */
  | { readonly kind: 'deltas_dropped'; readonly count: number };

export interface StreamOptions {
  /** The position of the last event already seen. Absent or -1: from the beginning. */
  readonly after?: number;
  /** Ends the stream. */
  readonly signal?: AbortSignal;
  /** How many events are read at a time, and so the most that are held. Absent: 256. */
  readonly pageSize?: number;
}

export interface LiveStreamOptions extends StreamOptions {
  /** The most deltas that wait for each iteration. Absent: 1,000. */
  readonly deltaLimit?: number;
}
