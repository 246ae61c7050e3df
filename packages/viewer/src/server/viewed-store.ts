import type { DispatchLog, DispatchRef, DispatchStore, SearchedStore } from '@hansard/dispatch';
import { LogRows } from './log-rows.ts';

/** What the viewer uses of a store: reading methods, none of which claims or changes anything. */
export interface ViewedStore
  extends Pick<DispatchStore, 'capabilities' | 'listTasks' | 'listDispatches' | 'watch'>,
    SearchedStore {
  findDispatch(dispatch: DispatchRef): Promise<DispatchLog | null>;
}

/** The reading methods of a store as an object that has no others. */
export function viewedStore(store: ViewedStore): ViewedStore {
  return {
    capabilities: store.capabilities,
    listTasks: () => store.listTasks(),
    listDispatches: (options) => store.listDispatches(options),
    watch: (scope, onChange) => store.watch(scope, onChange),
    dispatches: (options) => store.dispatches(options),
    searchEvents: (query, options) => store.searchEvents(query, options),
    findDispatch: (dispatch) => store.findDispatch(dispatch),
  };
}

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
    return log === null ? null : { log, rows: new LogRows(log, { among: this.#store }) };
  }
}
