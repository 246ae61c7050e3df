import { type Awaitable, type StopWatching, storeErrors } from '@hansard/provider';
import { isPromise } from '../async/is-promise.ts';
import { leavableIterator } from '../async/leavable-iterator.ts';
import type { Notifier } from '../async/notifier.ts';
import type { StoreContext } from './store-context.ts';

/** Milliseconds after which a follower reads without a signal in a store that watches: file systems may not report every change. */
export const pollWatchedMs = 5_000;

/** What followers use of an open store. */
export type FollowSource = Pick<
  StoreContext,
  'provider' | 'notifiers' | 'clock' | 'pollIntervalMs' | 'isClosed'
>;

/** How one iteration of a follower begins. Its writers signal through the notifier and the watch that there may be something new. */
export interface FollowStart<T> {
  readonly signal: AbortSignal | undefined;
  readonly notifier: Notifier;
  /** Adds the notifier to those of the store; the answer removes it. */
  readonly listen: (notifier: Notifier) => () => void;
  /** Undefined: the store cannot watch. */
  readonly watch: (onChange: () => void) => Awaitable<StopWatching> | undefined;
  readonly items: (following: Following) => AsyncGenerator<T, undefined>;
}

/** Items of a follower. Each iteration begins anew, and can be left while it waits. */
export function following<T>(source: FollowSource, start: () => FollowStart<T>): AsyncIterable<T> {
  return {
    [Symbol.asyncIterator]() {
      const begun = start();
      const life = new Following(source, begun.notifier);
      return leavableIterator(life.run(begun), () => life.end());
    },
  };
}

/** The life of a follower: it waits for the store, and for something new, until it ends. */
export class Following {
  readonly #source: FollowSource;
  readonly #notifier: Notifier;
  #ended = false;
  /** Stops waiting for the store. */
  #leave = () => {};

  constructor(source: FollowSource, notifier: Notifier) {
    this.#source = source;
    this.#notifier = notifier;
  }

  get isOver(): boolean {
    return this.#ended || this.#source.isClosed;
  }

  end(): void {
    this.#ended = true;
    this.#leave();
    this.#notifier.notify();
  }

  async *run<T>({ signal, listen, watch, items }: FollowStart<T>): AsyncGenerator<T, undefined> {
    const onAbort = () => this.end();
    const stopListening = listen(this.#notifier);
    signal?.addEventListener('abort', onAbort);
    let watching: Awaitable<StopWatching> | undefined;
    try {
      if (signal?.aborted) this.end();
      if (!this.isOver) watching = watch(() => this.#notifier.notify());
      await this.untilEnd(watching);
      yield* items(this);
    } catch (error) {
      // The store was closed while it read for a follower, which ends then.
      if (!this.isOver || !storeErrors.is(error, 'STORE_CLOSED')) throw error;
    } finally {
      stopWhenWatching(watching);
      signal?.removeEventListener('abort', onAbort);
      stopListening();
    }
  }

  async somethingNew(): Promise<void> {
    const { provider, clock, pollIntervalMs } = this.#source;
    if (this.isOver) return;
    const pollAfterMs = provider.capabilities.watch ? pollWatchedMs : pollIntervalMs;
    const cancel = clock.after(pollAfterMs, () => this.#notifier.notify());
    await this.#notifier.wait();
    cancel();
  }

  /** The result of work, or undefined if the follower ends first: a store that hangs, or whose calls are repeated, delays no end. */
  untilEnd<T>(work: Awaitable<T>): Awaitable<T | undefined> {
    if (!isPromise(work)) return work;
    return new Promise((resolve, reject) => {
      this.#leave = () => resolve(undefined);
      work.then(resolve, reject);
      if (this.#ended) this.#leave();
    });
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
