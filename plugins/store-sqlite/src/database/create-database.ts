import { randomUUID } from 'node:crypto';
import { linkSync, mkdirSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { toStoreError } from '../sqlite-errors.ts';
import { createTables } from './schema.ts';
import { useWriteAheadLog } from './write-ahead-log.ts';

/** Makes the database and its folder, whole or not at all. One that another process made meanwhile stays. */
export function createDatabase(file: string): void {
  const temporary = `${file}.${randomUUID()}.new`;
  try {
    mkdirSync(dirname(file), { recursive: true });
    const database = new DatabaseSync(temporary);
    try {
      useWriteAheadLog(database, file);
      createTables(database);
    } finally {
      database.close();
    }
    linkIfFree(temporary, file);
  } catch (error) {
    throw toStoreError(error, file);
  } finally {
    for (const suffix of ['', '-wal', '-shm']) rmSync(`${temporary}${suffix}`, { force: true });
  }
}

function linkIfFree(from: string, to: string): void {
  try {
    linkSync(from, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}
