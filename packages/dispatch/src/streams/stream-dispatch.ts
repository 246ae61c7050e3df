import { leavableIterator } from '../async/leavable-iterator.ts';
import { Notifier } from '../async/notifier.ts';
import { assertCount, assertCursor } from '../check-arguments.ts';
import type { DispatchLog } from '../store/dispatch-log.ts';
import type { FollowItem } from '../store/follow-item.ts';
import type { DispatchStream, LiveStreamOptions, StreamedEvent, StreamItem } from './dispatch-stream.ts';
import type { DeltaSubscription, LiveFeed, OpenFeed } from './live-feed.ts';

/**
 * A dispatch live: the events stored after the cursor, then those that any process appends. Ends when the dispatch has ended
 * and all its events were delivered, when the signal aborts or when the store closes. Deltas come from the feed, published
 * by the object that writes the dispatch in this process.
 *
 * @throws STORE_INVALID_CURSOR, TypeError for invalid limits; while iterating STORE_DISPATCH_NOT_FOUND, and the
 * error of a recording that failed
 */
export function streamDispatch(
  log: DispatchLog,
  openFeed: () => OpenFeed,
  options: LiveStreamOptions = {},
): DispatchStream {
  const { after = -1, pageSize, deltaLimit = 1_000, signal } = options;
  assertCursor(after);
  if (pageSize !== undefined) assertCount('pageSize', pageSize, 1);
  assertCount('deltaLimit', deltaLimit, 1);
  const until = async () => (await log.refresh()).status !== 'running';
  const page = pageSize === undefined ? {} : { pageSize };
  const begin = () => {
    const { feed, close } = openFeed();
    const ending = AbortSignal.any(signal === undefined ? [feed.failed] : [signal, feed.failed]);
    const items = log.follow({ after, signal: ending, until, ...page });
    const events = eventsOf(items[Symbol.asyncIterator](), close, () => {
      // The signal that aborted first ended the stream.
      if (feed.failed.aborted && ending.reason === feed.failed.reason) throw feed.failed.reason;
    });
    return { feed, events };
  };
  return {
    [Symbol.asyncIterator]: () => begin().events,
    withDeltas: () => ({
      [Symbol.asyncIterator]() {
        const { feed, events } = begin();
        return mergeDeltas(events, feed, deltaLimit);
      },
    }),
  };
}

/** The events among what a follower receives. `close` is called once; `onEnd` may throw the error that ended it. */
function eventsOf(
  items: AsyncIterator<FollowItem>,
  close: () => void,
  onEnd: () => void,
): AsyncIterator<StreamedEvent, undefined> {
  let isOpen = true;
  const finish = () => {
    if (isOpen) close();
    isOpen = false;
  };
  return {
    async next() {
      try {
        for (;;) {
          const { done, value } = await items.next();
          if (done === true) {
            finish();
            onEnd();
            return { done, value: undefined };
          }
          if (value.kind === 'event') return { done: false, value };
        }
      } catch (error) {
        finish();
        throw error;
      }
    },
    async return() {
      finish();
      await items.return?.();
      return { done: true, value: undefined };
    },
  };
}

/** Events with the deltas of a feed between them: those published from now on, even before the first item is requested. */
function mergeDeltas(
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
