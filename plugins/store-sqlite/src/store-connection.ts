import { randomUUID } from 'node:crypto';
import { closeSync, mkdirSync, openSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { storeErrors } from '@hansard/provider';
import { assertNotRemote, linkIfFree } from '@hansard/store-kit';
import { releaseAll } from './claimed-dispatches.ts';
import { locate, type OpenedDatabase, useWriteAheadLog } from './database/open-database.ts';
import { assertFormat, createTables } from './database/schema.ts';
import { toStoreError } from './sqlite-errors.ts';
import { type ConnectionOptions, type OpenedParts, openParts, type StoreParts } from './store-parts.ts';

/** Appends check at this interval, in milliseconds, that the file is at its path. A check costs a tenth of an append. */
const checkInterval = 50;

/** The database of a store, opened again if another one is at its path. Created by {@link openConnection}. */
export class StoreConnection {
  readonly #options: ConnectionOptions;
  #opened: OpenedDatabase;
  #parts: StoreParts;
  #isPlaceChecked = false;

  constructor(options: ConnectionOptions, { opened, parts }: OpenedParts) {
    this.#options = options;
    this.#opened = opened;
    this.#parts = parts;
  }

  current(): StoreParts {
    if (!this.#opened.isCurrent()) this.#open();
    return this.#parts;
  }

  /** Returns the result of `work`. If a database that is read without locks changed meanwhile, the work is repeated. */
  use<T>(work: (parts: StoreParts) => T): T {
    const parts = this.current();
    const { isCurrent } = this.#opened;
    try {
      const answer = work(parts);
      if (isCurrent()) return answer;
    } catch (error) {
      if (isCurrent()) throw error;
    }
    return this.use(work);
  }

  /**
   * As `use`, for work that writes.
   * @throws STORE_CORRUPT if the file was renamed, removed or replaced
   */
  write<T>(work: (parts: StoreParts) => T, interval = 0): T {
    this.#assertPlace();
    return this.use((parts) => {
      const { place } = this.#opened;
      place?.assertKept(interval);
      const answer = work(parts);
      place?.noteWrite();
      return answer;
    });
  }

  /** As `write`, for an append, which checks the place of the file only at intervals. */
  append<T>(work: (parts: StoreParts) => T): T {
    return this.write(work, checkInterval);
  }

  /** As `write`; creates the database if there is none. */
  writeFirst<T>(work: (parts: StoreParts) => T): T {
    this.#assertPlace();
    for (this.current(); !this.#opened.exists; this.current())
      createDatabase(this.#options.file, this.#options.access);
    return this.write(work);
  }

  /** @throws STORE_CORRUPT if acknowledged writes are not in the file at the path, and no call has reported it */
  close(): void {
    const { place } = this.#opened;
    try {
      place?.assertNothingLost();
    } finally {
      closeAfter(this.#parts, () => releaseAll(this.#parts));
    }
  }

  /** Asks once, before the first write. @throws STORE_UNAVAILABLE */
  #assertPlace(): void {
    if (this.#isPlaceChecked) return;
    const { file, fileSystemOf } = this.#options;
    assertNotRemote(file, null, fileSystemOf(file));
    this.#isPlaceChecked = true;
  }

  #open(): void {
    const { opened, parts } = openParts(this.#options);
    closeAfter(this.#parts, () => {});
    this.#opened = opened;
    this.#parts = parts;
  }
}

/** Opens the database at the path, and creates nothing there. */
export function openConnection(options: ConnectionOptions): StoreConnection {
  return new StoreConnection(options, openParts(options));
}

function closeAfter({ database, lengths }: StoreParts, work: () => void): void {
  try {
    work();
  } finally {
    database.close();
    lengths.close();
  }
}

/**
 * Creates the database and its folder, complete or not at all.
 * 1. Create the tables in a file of a random name beside the path, and close it. `private`: only the user may use it.
 * 2. Check that the content of that file is on the disk.
 * 3. Link the file to the path. If another process created the database meanwhile, its database stays.
 * 4. Remove the random name.
 * @throws STORE_UNAVAILABLE
 */
function createDatabase(file: string, access: 'private' | 'shared'): void {
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
