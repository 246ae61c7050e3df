import { resolve } from 'node:path';
import { SqliteStore } from './sqlite-store.ts';
import { openConnection } from './store-connection.ts';

export interface SqliteStoreOptions {
  /** The database file. It and its folder are made at the first write where they are not there. */
  readonly path: string;
  /**
   * What an acknowledged append survives: `process` (the default), the death of the process; `disk`, also the loss of
   * power, at the price of a flush of the disk per append.
   */
  readonly durability?: 'process' | 'disk';
  /** Milliseconds that a call waits for another process that is writing; then it is STORE_UNAVAILABLE. Default 5,000. */
  readonly busyTimeout?: number;
  /** Milliseconds between two looks for what other processes wrote, while somebody watches. Default 100. */
  readonly watchInterval?: number;
}

/**
 * Opens the store that lies in a database file.
 * @throws STORE_UNAVAILABLE where the file can't be opened, belongs to another program or was written by a newer version
 * @throws STORE_CORRUPT where it is not a database, a damaged one, or emptied
 */
export function openSqliteStore({
  path,
  durability = 'process',
  busyTimeout = 5_000,
  watchInterval = 100,
}: SqliteStoreOptions): SqliteStore {
  const file = resolve(path);
  const connection = openConnection({ file, durability, busyTimeout });
  return new SqliteStore({ connection, file, durability, watchInterval });
}
