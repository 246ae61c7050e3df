import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { StoreError } from '@hansard/provider';
import { prepareSchema } from './schema.ts';
import { toStoreError } from './sqlite-errors.ts';

export interface DatabaseOptions {
  readonly file: string;
  readonly durability: 'process' | 'disk';
  /** Milliseconds. */
  readonly busyTimeout: number;
}

/** Opens the database, and makes it and its folder where they are not there. */
export function openDatabase({ file, durability, busyTimeout }: DatabaseOptions): DatabaseSync {
  let database: DatabaseSync | undefined;
  try {
    makeFolder(dirname(file));
    database = new DatabaseSync(file, { timeout: busyTimeout });
    useWriteAheadLog(database, file);
    database.exec(`
      PRAGMA synchronous = ${durability === 'disk' ? 'FULL' : 'NORMAL'};
      PRAGMA fullfsync = ${durability === 'disk' ? 'ON' : 'OFF'};
      PRAGMA cell_size_check = ON;
    `);
    prepareSchema(database, file);
    return database;
  } catch (error) {
    database?.close();
    throw toStoreError(error, file);
  }
}

function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true });
  } catch (error) {
    throw new StoreError(
      'STORE_UNAVAILABLE',
      `The folder ${folder} could not be made (${(error as Error).message}).`,
      { cause: error, details: { file: folder } },
    );
  }
}

function useWriteAheadLog(database: DatabaseSync, file: string): void {
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
