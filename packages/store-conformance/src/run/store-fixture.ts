import type { Awaitable, DispatchStoreProvider } from '@hansard/provider';

/** A new, empty store for one case. */
export interface StoreFixture {
  readonly store: DispatchStoreProvider;
  /**
   * Opens the same data again. It closes nothing itself: the kit has closed the store before, except in the cases for
   * `writers: 'dispatch'`, which open it twice on purpose. Required unless `durability` is `memory`.
   */
  readonly reopen?: () => Awaitable<DispatchStoreProvider>;
  /** Removes the data of the store. The kit has closed every opening before. */
  readonly dispose: () => Awaitable<void>;
}
