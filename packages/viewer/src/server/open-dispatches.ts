import type { DispatchLog, DispatchRef } from '@hansard/dispatch';
import type { ViewedStore } from './viewed-store.ts';

/** The most dispatches that stay open at a time. */
const mostOpen = 16;

/** The dispatches that were read last, opened once each. */
export class OpenDispatches {
  readonly #store: ViewedStore;
  readonly #open = new Map<string, Promise<DispatchLog | null>>();

  constructor(store: ViewedStore) {
    this.#store = store;
  }

  /** Null if there is no such dispatch. Fails as `DispatchStore.findDispatch` does. */
  async find({ taskDir, dispatchId }: DispatchRef): Promise<DispatchLog | null> {
    const key = JSON.stringify([taskDir, dispatchId]);
    const found = this.#open.get(key) ?? this.#store.findDispatch({ taskDir, dispatchId });
    this.#open.delete(key);
    this.#open.set(key, found);
    for (const oldest of this.#open.keys()) {
      if (this.#open.size <= mostOpen) break;
      this.#open.delete(oldest);
    }
    try {
      const log = await found;
      if (log === null) this.#open.delete(key);
      return log;
    } catch (error) {
      this.#open.delete(key);
      throw error;
    }
  }
}
