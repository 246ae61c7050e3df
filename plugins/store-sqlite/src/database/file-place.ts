import { type BigIntStats, existsSync, readdirSync, readlinkSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type StoreError, storeErrors } from '@hansard/provider';

/** The present path of an open file; `removed` if it has none; null if the system does not report it. */
type OpenFilePath = { readonly path: string } | 'removed' | null;

/**
 * The place of an open database. SQLite continues to write to a file that was renamed or removed, where no reader finds it.
 * So the writes that were acknowledged since the file was last seen at its path are counted, and their loss is reported.
 */
export class FilePlace {
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
