import type { DatabaseSync } from 'node:sqlite';
import { StoreError } from '@hansard/provider';

/** @throws STORE_UNAVAILABLE where the file system can't have one */
export function useWriteAheadLog(database: DatabaseSync, file: string): void {
  const { journal_mode: mode } = database.prepare('PRAGMA journal_mode = WAL').get() as {
    journal_mode: string;
  };
  if (mode === 'wal') return;
  throw new StoreError(
    'STORE_UNAVAILABLE',
    `${file} lies on a file system without shared memory, which SQLite's write-ahead log needs. Move the store to a local disk.`,
    { details: { file } },
  );
}
