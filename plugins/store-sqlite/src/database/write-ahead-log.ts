import type { DatabaseSync } from 'node:sqlite';
import { storeErrors } from '@hansard/provider';

/** Switches a database to the write-ahead log. @throws STORE_UNAVAILABLE if the file system does not support it */
export function useWriteAheadLog(database: DatabaseSync, file: string): void {
  const { journal_mode: mode } = database.prepare('PRAGMA journal_mode = WAL').get() as {
    journal_mode: string;
  };
  if (mode === 'wal') return;
  throw storeErrors.error(
    'STORE_UNAVAILABLE',
    `${file} is on a file system without shared memory, which SQLite's write-ahead log needs. Move the store to a local disk.`,
    { details: { file } },
  );
}
