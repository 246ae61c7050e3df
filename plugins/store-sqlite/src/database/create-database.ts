import { randomUUID } from 'node:crypto';
import { linkSync, mkdirSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { StoreError } from '@hansard/provider';
import { toStoreError } from '../sqlite-errors.ts';
import { locate } from './open-database.ts';
import { assertOurs, createTables } from './schema.ts';
import { useWriteAheadLog } from './write-ahead-log.ts';

/** Makes the database and its folder, whole or not at all. One that another process made meanwhile stays. */
export function createDatabase(file: string): void {
  const temporary = `${file}.${randomUUID()}.new`;
  try {
    mkdirSync(dirname(file), { recursive: true });
    const database = new DatabaseSync(temporary);
    try {
      // Not yet in the write-ahead log: SQLite does not report it where closing can't bring a log into the file.
      createTables(database);
      useWriteAheadLog(database, file);
    } finally {
      database.close();
    }
    assertWhole(temporary, file);
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

/** Reads what is on the disk. @throws STORE_UNAVAILABLE */
function assertWhole(temporary: string, file: string): void {
  const database = new DatabaseSync(locate(temporary, { mode: 'ro', immutable: '1' }));
  try {
    const found = database.prepare('PRAGMA quick_check(1)').get()?.quick_check;
    if (found !== 'ok') throw new Error(String(found));
    assertOurs(database, temporary);
  } catch (cause) {
    throw new StoreError(
      'STORE_UNAVAILABLE',
      `${file} could not be made: what was written of it is not on the disk. Check the disk and the room on it, then try again.`,
      { cause, details: { file } },
    );
  } finally {
    database.close();
  }
}
