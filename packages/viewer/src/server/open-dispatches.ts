import type { DispatchLog, DispatchRef } from '@hansard/dispatch';
import { LogRows } from './log-rows.ts';
import type { ViewedStore } from './viewed-store.ts';

export interface OpenDispatch {
  readonly log: DispatchLog;
  readonly rows: LogRows;
}

/** The most dispatches that stay open at a time. */
const mostOpen = 16;

/** The dispatches that were read last, opened once each. */
export class OpenDispatches {
  readonly #store: ViewedStore;
  readonly #open = new Map<string, Promise<OpenDispatch | null>>();

  constructor(store: ViewedStore) {
    this.#store = store;
  }

  /** Null if there is no such dispatch. Fails as `DispatchStore.findDispatch` does. */
  async find({ taskDir, dispatchId }: DispatchRef): Promise<OpenDispatch | null> {
    const key = JSON.stringify([taskDir, dispatchId]);
    const found = this.#open.get(key) ?? this.#find({ taskDir, dispatchId });
    this.#open.delete(key);
    this.#open.set(key, found);
    for (const oldest of this.#open.keys()) {
      if (this.#open.size <= mostOpen) break;
      this.#open.delete(oldest);
    }
    try {
      const open = await found;
      if (open === null) this.#open.delete(key);
      return open;
    } catch (error) {
      this.#open.delete(key);
      throw error;
    }
  }
  async #find(ref: DispatchRef): Promise<OpenDispatch | null> {
    const log = await this.#store.findDispatch(ref);
    return log === null ? null : { log, rows: new LogRows(log) };
  }
}
