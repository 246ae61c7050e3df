import { leavableIterator } from '../async/leavable-iterator.ts';
import { Notifier } from '../async/notifier.ts';
import type { StreamedEvent, StreamItem } from './dispatch-stream.ts';
import type { DeltaSubscription, LiveFeed } from './live-feed.ts';

/** Events with the deltas of a feed between them: those published from now on, even before the first item is requested. */
export function mergeDeltas(
  events: AsyncIterator<StreamedEvent, undefined>,
  feed: LiveFeed,
  deltaLimit: number,
): AsyncIterator<StreamItem, undefined> {
  const notifier = new Notifier();
  const deltas = feed.subscribe(deltaLimit, () => notifier.notify());
  const merging = new Merging(events, deltas, notifier);
  return leavableIterator(merging.items(), () => merging.leave());
}

class Merging {
  readonly #events: AsyncIterator<StreamedEvent, undefined>;
  readonly #deltas: DeltaSubscription;
  readonly #notifier: Notifier;
  #arrived: IteratorResult<StreamedEvent, undefined> | null = null;
  #failure: { readonly error: unknown } | null = null;
  #hasLeft = false;

  constructor(
    events: AsyncIterator<StreamedEvent, undefined>,
    deltas: DeltaSubscription,
    notifier: Notifier,
  ) {
    this.#events = events;
    this.#deltas = deltas;
    this.#notifier = notifier;
  }

  leave(): void {
    this.#hasLeft = true;
    this.#deltas.close();
    this.#notifier.notify();
  }

  async *items(): AsyncGenerator<StreamItem, undefined> {
    try {
      this.#ask();
      while (!this.#hasLeft) {
        // Deltas that wait when an event arrives are older than the event.
        for (let item = this.#deltas.take(); item !== undefined; item = this.#deltas.take()) yield item;
        if (this.#failure !== null) throw this.#failure.error;
        const arrived = this.#arrived as IteratorResult<StreamedEvent, undefined> | null;
        if (arrived === null) await this.#notifier.wait();
        else if (arrived.done === true) return;
        else {
          this.#arrived = null;
          yield arrived.value;
          this.#ask();
        }
      }
    } finally {
      this.#deltas.close();
      await this.#events.return?.();
    }
  }

  #ask(): void {
    const wake = () => this.#notifier.notify();
    this.#events
      .next()
      .then(
        (arrived) => {
          this.#arrived = arrived;
        },
        (error) => {
          this.#failure = { error };
        },
      )
      .then(wake);
  }
}
