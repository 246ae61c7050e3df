import { existsSync, lstatSync, statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { corrupt, isPermissionError, toStoreError } from '../sqlite-errors.ts';
import { FilePlace } from './file-place.ts';
import { assertOurs, createTables } from './schema.ts';
import { useWriteAheadLog } from './write-ahead-log.ts';

export interface DatabaseOptions {
  readonly file: string;
  readonly durability: 'process' | 'disk';
  /** Milliseconds. */
  readonly busyTimeout: number;
}

export interface OpenedDatabase {
  readonly database: DatabaseSync;
  /** Whether there is a file; without one, the database is an empty one in memory, to read from only. */
  readonly isThere: boolean;
  /** Where what is written goes; null where nothing can be written. */
  readonly place: FilePlace | null;
  /** False where the file has to be opened again to see what is in it now. */
  isCurrent(): boolean;
}

/** Opens what lies at the path, and creates nothing there. */
export function openDatabase(options: DatabaseOptions): OpenedDatabase {
  const { file } = options;
  try {
    if (!isThere(file)) return openAbsent(file);
    return openPresent(options);
  } catch (error) {
    throw toStoreError(error, file);
  }
}

/** @throws STORE_CORRUPT where a database was here: one comes into being whole, and is never empty or only a log */
function isThere(file: string): boolean {
  // Asked first: another process may make the database, and its log, at any moment.
  const hadLog = hasLog(file);
  if (orMissing(() => lstatSync(file)) === null) {
    if (hadLog) throw corrupt(file, 'the file is gone, and its log is still there');
    return false;
  }
  const found = statSync(file);
  if (found.isFile() && found.size === 0) throw corrupt(file, 'the file was emptied');
  return true;
}

function openAbsent(file: string): OpenedDatabase {
  const database = new DatabaseSync(':memory:');
  createTables(database);
  return { database, isThere: false, place: null, isCurrent: () => !existsSync(file) };
}

function openPresent(options: DatabaseOptions): OpenedDatabase {
  const { file } = options;
  try {
    return openShared(options);
  } catch (error) {
    if (!isPermissionError(error) || hasLog(file)) throw error;
    return openAtRest(file);
  }
}

/** Opens it beside others. Who may not write the file gets one that SQLite lets read only. */
function openShared({ file, durability, busyTimeout }: DatabaseOptions): OpenedDatabase {
  const database = new DatabaseSync(locate(file, { mode: 'rw' }), { timeout: busyTimeout });
  return configured(database, () => {
    const place = new FilePlace(file);
    useWriteAheadLog(database, file);
    database.exec(`
      PRAGMA synchronous = ${durability === 'disk' ? 'FULL' : 'NORMAL'};
      PRAGMA fullfsync = ${durability === 'disk' ? 'ON' : 'OFF'};
      PRAGMA cell_size_check = ON;
    `);
    assertOurs(database, file);
    return { database, isThere: true, place, isCurrent: () => true };
  });
}

/**
 * Opens it for someone who may not make the log's files beside it, without which SQLite shares nothing. It takes no locks
 * and sees no change, so what was read counts only while nobody else has the database open.
 */
function openAtRest(file: string): OpenedDatabase {
  const stamp = stampOf(file);
  const database = new DatabaseSync(locate(file, { mode: 'ro', immutable: '1' }));
  return configured(database, () => {
    database.exec('PRAGMA cell_size_check = ON');
    assertOurs(database, file);
    const isCurrent = () => !hasLog(file) && stampOf(file) === stamp;
    return { database, isThere: true, place: null, isCurrent };
  });
}

function configured(database: DatabaseSync, configure: () => OpenedDatabase): OpenedDatabase {
  try {
    return configure();
  } catch (error) {
    database.close();
    throw error;
  }
}

/** The address of a database file, whatever marks its path has. */
export function locate(file: string, parameters: Readonly<Record<string, string>>): URL {
  const url = pathToFileURL(file);
  url.search = new URLSearchParams(parameters).toString();
  return url;
}

function hasLog(file: string): boolean {
  return existsSync(`${file}-wal`);
}

function stampOf(file: string): string | null {
  const found = orMissing(() => statSync(file, { bigint: true }));
  return found && `${found.ino} ${found.size} ${found.mtimeNs}`;
}

function orMissing<T>(look: () => T): T | null {
  try {
    return look();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}
