import type { Awaitable, DispatchStoreProvider, JsonValue } from '@hansard/provider';

/** A new, empty store for one case. */
export interface StoreFixture {
  readonly store: DispatchStoreProvider;
  /**
   * Opens the same data again. It closes nothing itself: the kit has closed the store before, except in the cases for
   * `writers: 'dispatch'`, which open it several times on purpose. Required unless `durability` is `memory`.
   */
  readonly reopen?: () => Awaitable<DispatchStoreProvider>;
  /** Opens the same data in another process. Without it the cases with real processes are skipped. */
  readonly elsewhere?: StoreModule;
  /**
   * The stored bytes of one dispatch, which the kit damages while the store is closed. Without it the cases with
   * damaged bytes are skipped.
   */
  readonly damage?: (taskDir: string, dispatchId: string) => Awaitable<StoredBytes>;
  /** Whether a server keeps the data. A case that fills the disk of a process is skipped then. */
  readonly hasServer?: boolean;
  /** Removes the data of the store. The kit has closed every opening before, and its other processes have exited. */
  readonly dispose: () => Awaitable<void>;
}

/** An ES module that opens the store: `export const openStore = (folder) => openMyStore(folder)`. */
export interface StoreModule {
  /** An absolute path or a `file:` URL. */
  readonly module: string | URL;
  /** The arguments of its `openStore`; JSON values. */
  readonly args: readonly JsonValue[];
}

/** The bytes that keep one dispatch: its file, or the file of a database. */
export interface StoredBytes {
  readonly bytes: Uint8Array;
  /** Replaces the bytes. The length may differ. */
  write(bytes: Uint8Array): Awaitable<void>;
}
