import { resolve } from 'node:path';
import { defaultLeaseMs } from '@hansard/store-kit';
import { SqliteStore } from './sqlite-store.ts';
import { openConnection } from './store-connection.ts';
import { type StoreSystem, thisSystem } from './store-system.ts';

export interface SqliteStoreOptions {
  /** The database file. The first write creates it and its folder if they do not exist. */
  readonly path: string;
  /**
   * The failures that an acknowledged append survives: `process` (the default), the end of the process; `disk`, also the
   * loss of power, at the price of one flush of the disk per append.
   */
  readonly durability?: 'process' | 'disk';
  /**
   * The time in milliseconds that a call waits for a writing process before it is STORE_UNAVAILABLE, which is transient. Nothing else
   * runs in this process meanwhile. Default 100.
   */
  readonly busyTimeout?: number;
  /** The interval in milliseconds at which a watching store looks for writes of other processes. Default 100. */
  readonly watchInterval?: number;
  /**
   * The time in milliseconds for which another opening must see no heartbeat of a claim's owner before it may take the claim over.
   * The owner renews its heartbeat three times as often. Default 15,000.
   */
  readonly leaseMs?: number;
  /** Who may use the files that the store creates: `private` (the default), their owner; `shared`, as the umask says. */
  readonly access?: 'private' | 'shared';
}

/**
 * Opens the store in a database file. Reading creates nothing.
 * @throws STORE_UNAVAILABLE if the file cannot be opened, belongs to another program or was written by a newer version
 * @throws STORE_CORRUPT if the file is not a database, is damaged or is empty
 */
export function openSqliteStore(options: SqliteStoreOptions): SqliteStore {
  return openStoreOn(options);
}

/** With parts of the machine replaced, for tests. */
export function openStoreOn(
  {
    path,
    durability = 'process',
    busyTimeout = 100,
    watchInterval = 100,
    leaseMs = defaultLeaseMs,
    access = 'private',
  }: SqliteStoreOptions,
  system: Partial<StoreSystem> = {},
): SqliteStore {
  const file = resolve(path);
  const connection = openConnection({
    file,
    durability,
    busyTimeout,
    leaseMs,
    access,
    ...thisSystem,
    ...system,
  });
  return new SqliteStore({ connection, file, durability, watchInterval });
}
