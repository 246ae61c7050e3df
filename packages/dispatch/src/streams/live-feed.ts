import type { Delta } from '@hansard/events';
import { type DispatchRef, dispatchKey } from '../store/dispatch-ref.ts';
import type { StreamItem } from './dispatch-stream.ts';

/** The deltas that wait for one iteration of a stream, until it closes. */
export interface DeltaSubscription {
  take: DeltaChannel['take'];
  close(): void;
}

/**
 * What the streams of a dispatch cannot read from its store: the deltas of an agent that runs in this process, and the
 * failure of its recording. After a failure the store says `running` until another process ends the dispatch.
 */
export class LiveFeed {
  readonly #channels = new Set<DeltaChannel>();
  readonly #failing = new AbortController();

  /** Aborts when the recording fails, with the error as its reason. */
  get failed(): AbortSignal {
    return this.#failing.signal;
  }

  /** Delivers a delta to the streams that read deltas. Never waits for them. */
  publish(delta: Delta): void {
    for (const channel of this.#channels) channel.push(delta);
  }

  /** Ends the streams with an error. */
  fail(error: unknown): void {
    this.#failing.abort(error);
  }

  /** Subscribes to the deltas from now on. At most `limit` wait; each one calls `onDelta`. */
  subscribe(limit: number, onDelta: () => void): DeltaSubscription {
    const channel = new DeltaChannel(limit, onDelta);
    this.#channels.add(channel);
    return { take: () => channel.take(), close: () => this.#channels.delete(channel) };
  }
}

/** The deltas that wait for one iteration of a stream. */
class DeltaChannel {
  readonly #limit: number;
  readonly #onDelta: () => void;
  #waiting: Delta[] = [];
  #dropped = 0;

  constructor(limit: number, onDelta: () => void) {
    this.#limit = limit;
    this.#onDelta = onDelta;
  }

  /** If the channel is full, all waiting deltas are dropped: text with gaps is of no use. */
  push(delta: Delta): void {
    if (this.#waiting.length >= this.#limit) {
      this.#dropped += this.#waiting.length;
      this.#waiting = [];
    }
    this.#waiting.push(delta);
    this.#onDelta();
  }

  /** The next item, or undefined if none waits. */
  take(): Exclude<StreamItem, { kind: 'event' }> | undefined {
    if (this.#dropped > 0) {
      const count = this.#dropped;
      this.#dropped = 0;
      return { kind: 'deltas_dropped', count };
    }
    const delta = this.#waiting.shift();
    return delta === undefined ? undefined : { kind: 'delta', delta };
  }
}

/** A feed in use. */
export interface OpenFeed {
  readonly feed: LiveFeed;
  /** Call once, when the feed is not used any more. */
  close(): void;
}

/** The live feeds of an open store: one for each dispatch that is written or streamed, shared by its writer and readers. */
export class LiveFeeds {
  readonly #feeds = new Map<string, { readonly feed: LiveFeed; users: number }>();

  open(dispatch: DispatchRef): OpenFeed {
    const key = dispatchKey(dispatch);
    const entry = this.#feeds.get(key) ?? { feed: new LiveFeed(), users: 0 };
    entry.users += 1;
    this.#feeds.set(key, entry);
    const close = () => {
      entry.users -= 1;
      // The next writer of a dispatch whose recording failed begins with a new feed.
      const isOver = entry.users === 0 || entry.feed.failed.aborted;
      if (isOver && this.#feeds.get(key) === entry) this.#feeds.delete(key);
    };
    return { feed: entry.feed, close };
  }
}
