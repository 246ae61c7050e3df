import { join } from 'node:path';
import type { DispatchStoreProvider } from '@hansard/provider';
import { openJsonFileStore } from '@hansard/store-jsonfile';
import { createMemoryStore } from '@hansard/store-memory';
import { openSqliteStore } from '@hansard/store-sqlite';

const stores = {
  memory: () => createMemoryStore(),
  jsonfile: (root: string) => openJsonFileStore({ root }),
  sqlite: (root: string) => openSqliteStore({ path: join(root, 'log.db') }),
} as const satisfies Readonly<Record<string, (root: string) => DispatchStoreProvider>>;

export type TruthStore = keyof typeof stores;

export const truthStores = Object.keys(stores) as TruthStore[];

/** A store of a random test, in a folder of its own. */
export function openTruthStore(kind: TruthStore, root: string): DispatchStoreProvider {
  return stores[kind](root);
}
