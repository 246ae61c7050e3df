import type { CapturedEvent } from '@hansard/events';
import { type DispatchStoreProvider, isStoreError, type StopWatching } from '@hansard/provider';
import { Bell, type Bells } from './bell.ts';
import type { Clock } from './clock.ts';

export type FollowItem =
  | { readonly kind: 'event'; readonly position: number; readonly event: CapturedEvent }
  /** Everything that was stored by now has been given; what comes next is live. Comes once. */
  | { readonly kind: 'caught_up'; readonly position: number };

export interface FollowOptions {
  /** The position of the last event already seen. Absent or -1: from the beginning. */
  readonly after?: number;
  /** Ends the following. */
  readonly signal?: AbortSignal;
  /** How many events are read at a time, and so the most that are held for a slow follower. Absent: 256. */
  readonly pageSize?: number;
}

/** What followers share: the store that they read, and what tells them to. */
export interface FollowSource {
  readonly provider: DispatchStoreProvider;
  readonly bells: Bells;
  readonly clock: Clock;
  readonly pollIntervalMs: number;
  isClosed(): boolean;
}

/**
 * Follows a dispatch. Nothing is handed from the writer to the follower but the word that there may be something new;
 * the follower reads behind its own cursor, so that it can neither miss an event nor see one twice.
 */
export function follow(
  source: FollowSource,
  taskDir: string,
  dispatchId: string,
  options: FollowOptions = {},
): AsyncIterable<FollowItem> {
  return {
    [Symbol.asyncIterator]() {
      const follower = new Follower(source, taskDir, dispatchId, options);
      const items = follower.items();
      return {
        next: () => items.next(),
        // A generator that waits takes no `return`, so the follower is woken first.
        return: () => {
          follower.end();
          return items.return(undefined);
        },
      };
    },
  };
}

class Follower {
  readonly #source: FollowSource;
  readonly #taskDir: string;
  readonly #dispatchId: string;
  readonly #options: FollowOptions;
  readonly #bell = new Bell();
  #ended = false;

  constructor(source: FollowSource, taskDir: string, dispatchId: string, options: FollowOptions) {
    this.#source = source;
    this.#taskDir = taskDir;
    this.#dispatchId = dispatchId;
    this.#options = options;
  }

  end(): void {
    this.#ended = true;
    this.#bell.ring();
  }

  async *items(): AsyncGenerator<FollowItem, undefined> {
    const { bells } = this.#source;
    const { signal } = this.#options;
    const onAbort = () => this.end();
    const removeBell = bells.add(this.#taskDir, this.#dispatchId, this.#bell);
    signal?.addEventListener('abort', onAbort);
    let stopWatching: StopWatching | undefined;
    try {
      if (signal?.aborted) this.end();
      else stopWatching = await this.#watch();
      yield* this.#read();
    } finally {
      stopWatching?.();
      signal?.removeEventListener('abort', onAbort);
      removeBell();
    }
  }

  async *#read(): AsyncGenerator<FollowItem, undefined> {
    let position = this.#options.after ?? -1;
    let caughtUp = false;
    while (!this.#isOver()) {
      const page = await this.#nextPage(position);
      for (const [index, event] of page.events.entries()) {
        if (this.#isOver()) return;
        yield { kind: 'event', position: page.first + index, event };
      }
      position = page.next;
      if (page.events.length > 0 || this.#isOver()) continue;
      if (!caughtUp) {
        caughtUp = true;
        yield { kind: 'caught_up', position };
      }
      await this.#somethingNew();
    }
  }

  async #nextPage(after: number) {
    const limit = this.#options.pageSize ?? 256;
    try {
      return await this.#source.provider.readEvents(this.#taskDir, this.#dispatchId, { after, limit });
    } catch (error) {
      // The store was closed while it read for a follower, who ends then.
      if (this.#isOver() && isStoreError(error, 'STORE_CLOSED'))
        return { events: [], first: after + 1, next: after };
      throw error;
    }
  }

  async #watch(): Promise<StopWatching | undefined> {
    const { provider } = this.#source;
    if (!provider.capabilities.watch) return undefined;
    return provider.watchEvents?.(this.#taskDir, this.#dispatchId, () => this.#bell.ring());
  }

  async #somethingNew(): Promise<void> {
    const { provider, clock, pollIntervalMs } = this.#source;
    if (this.#isOver()) return;
    const stopPolling = provider.capabilities.watch
      ? undefined
      : clock.after(pollIntervalMs, () => this.#bell.ring());
    await this.#bell.wait();
    stopPolling?.();
  }

  #isOver(): boolean {
    return this.#ended || this.#source.isClosed();
  }
}
