import { setImmediate as nextTurn } from 'node:timers/promises';
import { isStoreError, type StopWatching } from '@hansard/provider';
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

  constructor(source: FollowSource, stored: ProviderDispatch, options: FollowOptions) {
    this.#source = source;
    this.#stored = stored;
    this.#options = options;
  }

  end(): void {
    this.#ended = true;
    this.#notifier.notify();
  }

  async *items(): AsyncGenerator<FollowItem, undefined> {
    const { notifiers } = this.#source;
    const { signal } = this.#options;
    const onAbort = () => this.end();
    const removeNotifier = notifiers.add(this.#stored, this.#notifier);
    signal?.addEventListener('abort', onAbort);
    let stopWatching: StopWatching | undefined;
    try {
      if (signal?.aborted) this.end();
      if (!this.#isOver()) stopWatching = await this.#stored.watch(() => this.#notifier.notify());
      yield* this.#read();
    } catch (error) {
      // The store was closed while it read for a follower, which ends then.
      if (!this.#isOver() || !isStoreError(error, 'STORE_CLOSED')) throw error;
    } finally {
      stopWatching?.();
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
      const page = await this.#stored.readPage({ after: position, limit });
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
      isLastRead = (await until?.()) === true;
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

  #isOver(): boolean {
    return this.#ended || this.#source.isClosed;
  }
}
