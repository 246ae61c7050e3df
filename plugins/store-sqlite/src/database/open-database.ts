import {
  type BigIntStats,
  closeSync,
  existsSync,
  lstatSync,
  openSync,
  readdirSync,
  readlinkSync,
  readSync,
  type Stats,
  statSync,
} from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync, type DatabaseSyncOptions } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { type Clock, type StoreError, storeErrors, systemClock } from '@hansard/provider';
import { fileSystemOf, orMissing, type Processes, systemProcesses } from '@hansard/store-kit';
import { corrupt, isPermissionError, lockOwners, openingHeld, toOpenError } from '../sqlite-errors.ts';
import { assertFormat, createTables } from './schema.ts';

/** What the leases use of the machine. A test or a simulator can replace each part. */
export interface StoreSystem {
  readonly clock: Clock;
  readonly processes: Processes;
  /** The number of the file system of a path, as `statfs` gives it; null: not known. */
  fileSystemOf(path: string): number | null;
  /** Opens a database that exists. */
  openDatabase(location: URL, options: DatabaseSyncOptions): DatabaseSync;
}

export const thisSystem: StoreSystem = {
  clock: systemClock,
  processes: systemProcesses,
  fileSystemOf,
  openDatabase: (location, options) => new DatabaseSync(location, options),
};

/** The database, and what SQLite and this store open beside it. */
const suffixes = ['', '-wal', '-shm', '-journal', '-lengths'];

export interface DatabaseOptions {
  readonly file: string;
  readonly durability: 'process' | 'disk';
  /** Milliseconds. */
  readonly busyTimeout: number;
  readonly access: 'private' | 'shared';
}

type OpeningOptions = DatabaseOptions & Pick<StoreSystem, 'openDatabase'>;

export interface OpenedDatabase {
  readonly database: DatabaseSync;
  /** Whether the file exists. If not, the database is an empty one in memory, only for reading. */
  readonly exists: boolean;
  /** The place of the file that writes change; null if this database cannot be written. */
  readonly place: FilePlace | null;
  /** False if the file must be opened again to see its present content. */
  isCurrent(): boolean;
}

/** Opens the database at the path, and creates nothing there. @throws STORE_CORRUPT, STORE_UNAVAILABLE */
export function openDatabase(options: OpeningOptions): OpenedDatabase {
  const { file } = options;
  try {
    assertRegularFiles(file);
    if (!doesExist(file)) return openAbsent(file);
    return openPresent(options);
  } catch (error) {
    throw toOpenError(error, file);
  }
}

/**
 * A database is created complete, so an empty file, or a log without a file, is what remains of one.
 * @throws STORE_CORRUPT
 */
function doesExist(file: string): boolean {
  // Checked first, because another process may create the database and its log at any moment.
  const hadLog = hasLog(file);
  if (orMissing(() => lstatSync(file), ['ENOENT']) === null) {
    if (hadLog) throw corrupt(file, 'the file is missing, and its log still exists');
    return false;
  }
  const found = statSync(file);
  if (found.isFile() && found.size === 0) throw corrupt(file, 'the file was emptied');
  return true;
}

function openAbsent(file: string): OpenedDatabase {
  const database = new DatabaseSync(':memory:');
  createTables(database);
  return { database, exists: false, place: null, isCurrent: () => !existsSync(file) };
}

function openPresent(options: OpeningOptions): OpenedDatabase {
  const { file } = options;
  try {
    return openShared(options);
  } catch (error) {
    if (!isPermissionError(error) || hasLog(file)) throw error;
    return openAtRest(file);
  }
}

/** Opens the file for sharing with other processes. Without the right to write, SQLite opens it only for reading. */
function openShared({ file, durability, busyTimeout, ...system }: OpeningOptions): OpenedDatabase {
  awaitWholeIndex(file, busyTimeout);
  const database = system.openDatabase(locate(file, { mode: 'rw' }), { timeout: busyTimeout });
  return configured(database, () => {
    const place = new FilePlace(file);
    useWriteAheadLog(database, file);
    database.exec(`
      PRAGMA synchronous = ${durability === 'disk' ? 'FULL' : 'NORMAL'};
      PRAGMA fullfsync = ${durability === 'disk' ? 'ON' : 'OFF'};
      PRAGMA cell_size_check = ON;
      -- Overwrites what a changed row was, such as a task record that had a secret, where it costs no further writes.
      PRAGMA secure_delete = FAST;
    `);
    assertFormat(database, file);
    return { database, exists: true, place, isCurrent: () => true };
  });
}

/** The two headers of the index of the write-ahead log (https://sqlite.org/walformat.html), with what says in each that it was written. */
const indexHeader = { bytes: 48, written: 12 } as const;

/**
 * Waits until no other process is in the middle of writing the index of the log, for at most `timeout` milliseconds. SQLite waits for such a
 * process up to ten seconds in one call, whatever its limit, if that process was stopped meanwhile.
 * @throws STORE_UNAVAILABLE, which is transient
 */
function awaitWholeIndex(file: string, timeout: number): void {
  const until = performance.now() + timeout;
  while (!isIndexWhole(file) && lockOwners(file).some((pid) => pid !== process.pid)) {
    if (performance.now() >= until) throw openingHeld(file);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2);
  }
}

/** Also true without an index. */
function isIndexWhole(file: string): boolean {
  const { bytes, written } = indexHeader;
  let index: number;
  try {
    index = openSync(`${file}-shm`, 'r');
  } catch {
    return true;
  }
  try {
    const headers = Buffer.alloc(2 * bytes);
    if (readSync(index, headers, 0, headers.length, 0) < headers.length) return false;
    return headers[written] !== 0 && headers.subarray(0, bytes).equals(headers.subarray(bytes));
  } finally {
    closeSync(index);
  }
}

/**
 * Opens a file whose folder this process may not write. SQLite cannot create its log files there, so it takes no locks and
 * sees no changes. An answer is valid only if no other process had the database open while it was read.
 */
function openAtRest(file: string): OpenedDatabase {
  const stamp = stampOf(file);
  const database = new DatabaseSync(locate(file, { mode: 'ro', immutable: '1' }));
  return configured(database, () => {
    database.exec('PRAGMA cell_size_check = ON');
    assertFormat(database, file);
    const isCurrent = () => !hasLog(file) && stampOf(file) === stamp;
    return { database, exists: true, place: null, isCurrent };
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

/** The address of a database file, also for a path with special characters. */
export function locate(file: string, parameters: Readonly<Record<string, string>>): URL {
  const url = pathToFileURL(file);
  url.search = new URLSearchParams(parameters).toString();
  return url;
}

function hasLog(file: string): boolean {
  return existsSync(`${file}-wal`);
}

function stampOf(file: string): string | null {
  const found = orMissing(() => statSync(file, { bigint: true }), ['ENOENT']);
  return found && `${found.ino} ${found.size} ${found.mtimeNs}`;
}

/**
 * Checks that SQLite opens only regular files. It would wait for the writer of a FIFO, and nothing could end that.
 * @throws STORE_CORRUPT
 */
function assertRegularFiles(file: string): void {
  for (const suffix of suffixes) {
    const path = `${file}${suffix}`;
    const found = statSync(path, { throwIfNoEntry: false });
    if (found === undefined || found.isFile()) continue;
    throw storeErrors.error(
      'STORE_CORRUPT',
      `${path} is ${kindOf(found)}, and not a regular file. Move it away. If there was a file, restore it from a copy.`,
      { details: { file: path } },
    );
  }
}

function kindOf(stats: Stats): string {
  if (stats.isDirectory()) return 'a folder';
  if (stats.isFIFO()) return 'a named pipe (FIFO)';
  return stats.isSocket() ? 'a socket' : 'a device';
}

/** The present path of an open file; `removed` if it has none; null if the system does not report it. */
type OpenFilePath = { readonly path: string } | 'removed' | null;

/**
 * The place of an open database. SQLite continues to write to a file that was renamed or removed, where no reader finds it.
 * So the writes that were acknowledged since the file was last seen at its path are counted, and their loss is reported.
 */
class FilePlace {
  readonly #file: string;
  readonly #opened: BigIntStats;
  #checkedAt = Number.NEGATIVE_INFINITY;
  #unseenWrites = 0;
  #isReported = false;

  /** To be created as soon as the file is open. */
  constructor(file: string) {
    this.#file = file;
    this.#opened = statSync(file, { bigint: true });
  }

  /**
   * Checks that the file is at its path, unless the last check is at most `interval` milliseconds old.
   * @throws STORE_CORRUPT if the file was renamed, removed or replaced
   */
  assertKept(interval: number): void {
    const now = performance.now();
    if (now - this.#checkedAt < interval) return;
    if (!this.#isKept()) throw this.#movedError('Nothing of this call was written.');
    this.#checkedAt = now;
    this.#unseenWrites = 0;
    this.#isReported = false;
  }

  noteWrite(): void {
    this.#unseenWrites += 1;
  }

  /** Called before the database is closed. @throws STORE_CORRUPT if acknowledged writes are elsewhere, and no write has reported it */
  assertNothingLost(): void {
    if (this.#unseenWrites === 0 || this.#isReported || this.#isKept()) return;
    throw this.#movedError('The store is closed now.');
  }

  #isKept(): boolean {
    const found = statSync(this.#file, { bigint: true, throwIfNoEntry: false });
    return found !== undefined && isSameFile(found, this.#opened);
  }

  #movedError(ofThisCall: string): StoreError {
    this.#isReported = true;
    const file = this.#file;
    const unseenWrites = this.#unseenWrites;
    const now = findOpenFile(this.#opened);
    const isReplaced = existsSync(file);
    const change = isReplaced ? 'replaced by another file' : describeMove(now);
    const count =
      unseenWrites === 1 ? 'The last acknowledged write' : `The last ${unseenWrites} acknowledged writes`;
    const lost = unseenWrites === 0 ? '' : ` ${count} may be missing there.`;
    return storeErrors.error(
      'STORE_CORRUPT',
      `${file} was ${change} while this store was writing to it. ${ofThisCall}${lost} ${adviceFor(file, now, isReplaced)}`,
      { details: { file, movedTo: pathOf(now), unseenWrites } },
    );
  }
}

function describeMove(now: OpenFilePath): string {
  if (now === null) return 'renamed or removed';
  return now === 'removed' ? 'removed' : 'renamed';
}

/** The write-ahead log stays at the old path, and SQLite finds it only beside its database. */
function adviceFor(file: string, now: OpenFilePath, isReplaced: boolean): string {
  const log = existsSync(`${file}-wal`) ? ` and its latest events in ${file}-wal` : '';
  const putBack = `${isReplaced ? 'move the other file away, then ' : ''}move it back to ${file} before anything else opens that path`;
  if (now === 'removed') {
    return 'Its data is lost when the stores that have it open are closed. Read from them what you need, then restore a backup.';
  }
  if (now === null)
    return `Close the stores that have it open. If it was renamed, ${putBack}; otherwise restore a backup.`;
  return `Its data is in ${now.path}${log}. Close the stores that have it open, then ${putBack}.`;
}

function pathOf(now: OpenFilePath): string | null {
  return now === null || now === 'removed' ? null : now.path;
}

/** The present path of a file that this process has open. Only Linux reports it. */
function findOpenFile(opened: BigIntStats): OpenFilePath {
  const folder = '/proc/self/fd';
  try {
    for (const fd of readdirSync(folder)) {
      const link = join(folder, fd);
      const found = statSync(link, { bigint: true, throwIfNoEntry: false });
      if (found === undefined || !isSameFile(found, opened)) continue;
      return found.nlink === 0n ? 'removed' : { path: readlinkSync(link) };
    }
  } catch {
    // The caller is creating another error, which matters more than the path of the file.
  }
  return null;
}

function isSameFile(left: BigIntStats, right: BigIntStats): boolean {
  return left.ino === right.ino && left.dev === right.dev;
}

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
