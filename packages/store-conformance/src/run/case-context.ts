import type { DispatchStoreProvider, StoreCapabilities } from '@hansard/provider';
import type { StoreFixture } from './store-fixture.ts';

/** The arguments of a case: a new, empty store, and ways to open its data again. */
export interface CaseContext {
  readonly store: DispatchStoreProvider;
  /** The capabilities that the author states. */
  readonly capabilities: StoreCapabilities;
  /** The seed to replay, if the author gave one. */
  readonly seed: number | undefined;
  /** Closes the store, then opens the same data again. Another call closes the store that the last call opened. */
  reopen(): Promise<DispatchStoreProvider>;
  /** Opens the same data a second time while the store stays open. */
  openBeside(): Promise<DispatchStoreProvider>;
}

/** Creates the context of one case, and the function that cleans up after it. */
export function createCaseContext(
  fixture: StoreFixture,
  capabilities: StoreCapabilities,
  seed: number | undefined,
): { readonly context: CaseContext; readonly cleanUp: ReadonlyArray<() => Promise<void>> } {
  const opened = [fixture.store];
  let newest = fixture.store;

  const open = async () => {
    if (fixture.reopen === undefined)
      throw new TypeError(
        `The fixture needs reopen(), because the store states durability '${capabilities.durability}'.`,
      );
    const store = await fixture.reopen();
    opened.push(store);
    return store;
  };
  const context: CaseContext = {
    store: fixture.store,
    capabilities,
    seed,
    async reopen() {
      await newest.close();
      newest = await open();
      return newest;
    },
    openBeside: open,
  };
  const closeAll = async () => {
    for (const store of opened.reverse()) await store.close();
  };
  return { context, cleanUp: [closeAll, async () => fixture.dispose()] };
}
