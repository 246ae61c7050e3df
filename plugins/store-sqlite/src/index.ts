import { join, resolve } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { definePlugin, storeErrors } from '@hansard/provider';
import { openSqliteStore, type SqliteStore, type SqliteStoreOptions } from './sqlite-store.ts';

export type { SqliteStore } from './sqlite-store.ts';
export { openSqliteStore, type SqliteStoreOptions } from './sqlite-store.ts';

interface SqliteStoreConfig {
  readonly root: string;
  readonly durability?: 'process' | 'disk';
  readonly leaseMs?: number;
  readonly access?: 'private' | 'shared';
}

export default definePlugin<'DispatchStoreProvider', SqliteStoreConfig>({
  id: 'store-sqlite',
  provides: 'DispatchStoreProvider',
  create: ({ root, ...options }, { baseDir, signal }) =>
    openWhenFree({ ...options, path: join(resolve(baseDir, root), 'hansard.sqlite') }, signal),
});

/** Milliseconds. */
const longestWait = 30_000;
const pause = 100;

/** Opens the store. While another process is in the middle of opening it, tries again for 30 seconds, and lets this process run. */
async function openWhenFree(options: SqliteStoreOptions, signal: AbortSignal): Promise<SqliteStore> {
  const until = performance.now() + longestWait;
  for (;;) {
    try {
      return openSqliteStore(options);
    } catch (error) {
      const isTransient = storeErrors.is(error, 'STORE_UNAVAILABLE') && error.isTransient;
      if (!isTransient || performance.now() > until) throw error;
    }
    await setTimeout(pause, undefined, { signal });
  }
}
