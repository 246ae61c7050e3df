import type { Delta } from '@hansard/events';
import { DeltaChannel } from './delta-channel.ts';

/** The deltas that wait for one iteration of a stream, until it closes. */
export interface DeltaSubscription {
  take: DeltaChannel['take'];
  close(): void;
}

/**
 * What the streams of a dispatch cannot read from its store: the deltas of an agent that runs in this process, and that
 * its recording failed, after which the store says `running` until somebody ends the dispatch. Each object that writes a
 * dispatch has one.
 */
export class LiveFeed {
  readonly #channels = new Set<DeltaChannel>();
  readonly #failing = new AbortController();

  /** Aborted where the recording failed, with the error as its reason. */
  get failed(): AbortSignal {
    return this.#failing.signal;
  }

  /** Gives a delta to the streams that take deltas. Never waits for them. */
  publish(delta: Delta): void {
    for (const channel of this.#channels) channel.push(delta);
  }

  /** Ends the streams with an error. */
  fail(error: unknown): void {
    this.#failing.abort(error);
  }

  /** The deltas from now on. At most `limit` wait; `onDelta` is told that there is something. */
  subscribe(limit: number, onDelta: () => void): DeltaSubscription {
    const channel = new DeltaChannel(limit, onDelta);
    this.#channels.add(channel);
    return { take: () => channel.take(), close: () => this.#channels.delete(channel) };
  }
}
