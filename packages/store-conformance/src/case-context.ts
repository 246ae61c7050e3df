import type { DispatchStoreProvider, StoreCapabilities } from '@hansard/provider';
import type { StoreFixture } from './store-fixture.ts';

/** What a case gets: a fresh, empty store, and ways to open its data again. */
export interface CaseContext {
  readonly store: DispatchStoreProvider;
  /** What the author says of the store. */
  readonly capabilities: StoreCapabilities;
  /** The seed that the author wants replayed, if any. */
  readonly seed: number | undefined;
  /** Closes the store, then opens the same data again. Called again, it closes what it opened last. */
  reopen(): Promise<DispatchStoreProvider>;
  /** Opens the same data a second time while the store stays open. */
  openBeside(): Promise<DispatchStoreProvider>;
}

/** Makes the context of one case, and the steps that clean up after it. */
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
        `The fixture needs reopen(): the store claims durability '${capabilities.durability}'.`,
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
