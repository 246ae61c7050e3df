import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Awaitable, type StopWatching, storeErrors } from '@hansard/provider';
import { isPromise } from '../async/is-promise.ts';
import { leavableIterator } from '../async/leavable-iterator.ts';
import { Notifier } from '../async/notifier.ts';
import type { FollowItem, FollowOptions } from './follow-item.ts';
import type { ProviderDispatch } from './provider-dispatch.ts';
import type { StoreContext } from './store-context.ts';

const defaultPageSize = 256;

/** How often a follower reads without a signal in a store that watches: file systems may not report every change. */
const pollWatchedMs = 5_000;

/** What followers use of an open store. */
export type FollowSource = Pick<
  StoreContext,
  'provider' | 'notifiers' | 'clock' | 'pollIntervalMs' | 'isClosed'
>;

/**
 * Follows a dispatch. The writer only signals that there may be something new. The follower reads after its own cursor, so
 * it can neither miss an event nor receive one twice.
 */
export function follow(
  source: FollowSource,
  stored: ProviderDispatch,
  options: FollowOptions = {},
): AsyncIterable<FollowItem> {
  return {
    [Symbol.asyncIterator]() {
      const follower = new Follower(source, stored, options);
      return leavableIterator(follower.items(), () => follower.end());
    },
  };
}

class Follower {
  readonly #source: FollowSource;
  readonly #stored: ProviderDispatch;
  readonly #options: FollowOptions;
  readonly #notifier = new Notifier();
  #ended = false;
  /** Stops waiting for the store. */
  #leave = () => {};

  constructor(source: FollowSource, stored: ProviderDispatch, options: FollowOptions) {
    this.#source = source;
    this.#stored = stored;
    this.#options = options;
  }

  end(): void {
    this.#ended = true;
    this.#leave();
    this.#notifier.notify();
  }

  async *items(): AsyncGenerator<FollowItem, undefined> {
    const { notifiers } = this.#source;
    const { signal } = this.#options;
    const onAbort = () => this.end();
    const removeNotifier = notifiers.add(this.#stored, this.#notifier);
    signal?.addEventListener('abort', onAbort);
    let watching: Awaitable<StopWatching> | undefined;
    try {
      if (signal?.aborted) this.end();
      if (!this.#isOver()) watching = this.#stored.watch(() => this.#notifier.notify());
      await this.#untilEnd(watching);
      yield* this.#read();
    } catch (error) {
      // The store was closed while it read for a follower, which ends then.
      if (!this.#isOver() || !storeErrors.is(error, 'STORE_CLOSED')) throw error;
    } finally {
      stopWhenWatching(watching);
      signal?.removeEventListener('abort', onAbort);
      removeNotifier();
    }
  }

  async *#read(): AsyncGenerator<FollowItem, undefined> {
    const { after = -1, pageSize: limit = defaultPageSize, until } = this.#options;
    let position = after;
    let caughtUp = false;
    let isLastRead = false;
    while (!this.#isOver()) {
      const page = await this.#untilEnd(this.#stored.readPage({ after: position, limit }));
      if (page === undefined) return;
      for (const [index, event] of page.events.entries()) {
        if (this.#isOver()) return;
        yield { kind: 'event', position: page.first + index, event };
      }
      position = page.next;
      // A synchronous store would keep timers and signals waiting until the end.
      if (page.events.length === limit) await nextTurn();
      if (page.events.length > 0 || this.#isOver()) continue;
      if (!caughtUp) {
        caughtUp = true;
        yield { kind: 'caught_up', position };
      }
      if (isLastRead) return;
      isLastRead = (await this.#untilEnd(until?.())) === true;
      if (!isLastRead) await this.#somethingNew();
    }
  }

  async #somethingNew(): Promise<void> {
    const { provider, clock, pollIntervalMs } = this.#source;
    if (this.#isOver()) return;
    const pollAfterMs = provider.capabilities.watch ? pollWatchedMs : pollIntervalMs;
    const cancel = clock.after(pollAfterMs, () => this.#notifier.notify());
    await this.#notifier.wait();
    cancel();
  }

  /** The result of work, or undefined if the follower ends first: a store that hangs, or whose calls are repeated, delays no end. */
  #untilEnd<T>(work: Awaitable<T>): Awaitable<T | undefined> {
    if (!isPromise(work)) return work;
    return new Promise((resolve, reject) => {
      this.#leave = () => resolve(undefined);
      work.then(resolve, reject);
      if (this.#ended) this.#leave();
    });
  }

  #isOver(): boolean {
    return this.#ended || this.#source.isClosed;
  }
}

/** Ends the calls of a watch, as soon as the store has answered. Nobody waits for the answer, so its error is not reported. */
function stopWhenWatching(watching: Awaitable<StopWatching> | undefined): void {
  if (!isPromise(watching)) watching?.();
  else
    watching.then(
      (stop) => stop(),
      () => {},
    );
}
