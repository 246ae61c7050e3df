import { join, resolve } from 'node:path';
import { definePlugin } from '@hansard/provider';
import { openSqliteStore } from './sqlite-store.ts';

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
  create: ({ root, ...options }, { baseDir }) =>
    openSqliteStore({ ...options, path: join(resolve(baseDir, root), 'hansard.sqlite') }),
});
