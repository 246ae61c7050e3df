import { randomUUID } from 'node:crypto';
import { closeSync, mkdirSync, openSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { storeErrors } from '@hansard/provider';
import { linkIfFree } from '@hansard/store-kit';
import { toStoreError } from '../sqlite-errors.ts';
import { locate } from './open-database.ts';
import { assertFormat, createTables } from './schema.ts';
import { useWriteAheadLog } from './write-ahead-log.ts';

/**
 * Creates the database and its folder, complete or not at all.
 * 1. Create the tables in a file of a random name beside the path, and close it. `private`: only the user may use it.
 * 2. Check that the content of that file is on the disk.
 * 3. Link the file to the path. If another process created the database meanwhile, its database stays.
 * 4. Remove the random name.
 * @throws STORE_UNAVAILABLE
 */
export function createDatabase(file: string, access: 'private' | 'shared'): void {
  const temporary = `${file}.${randomUUID()}.new`;
  const [fileMode, folderMode] = access === 'private' ? [0o600, 0o700] : [0o666, 0o777];
  try {
    mkdirSync(dirname(file), { recursive: true, mode: folderMode });
    // SQLite gives its log files the permissions of the database.
    closeSync(openSync(temporary, 'wx', fileMode));
    const database = new DatabaseSync(temporary);
    try {
      // Before the write-ahead log is used: SQLite does not report when closing fails to copy the log into the file.
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

/** Reads the content from the disk. @throws STORE_UNAVAILABLE */
function assertWhole(temporary: string, file: string): void {
  const database = new DatabaseSync(locate(temporary, { mode: 'ro', immutable: '1' }));
  try {
    const found = database.prepare('PRAGMA quick_check(1)').get()?.quick_check;
    if (found !== 'ok') throw new Error(String(found));
    assertFormat(database, temporary);
  } catch (cause) {
    throw storeErrors.error(
      'STORE_UNAVAILABLE',
      `${file} could not be created, because the disk did not keep its content. Check the disk and its free space, then try again.`,
      { cause, details: { file } },
    );
  } finally {
    database.close();
  }
}
