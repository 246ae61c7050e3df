import { type BigIntStats, existsSync, readdirSync, readlinkSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { StoreError } from '@hansard/provider';

/** Where a file that is open is now: its path, `nowhere` once it was removed, null where the system does not say. */
type Whereabouts = { readonly path: string } | 'nowhere' | null;

/**
 * The place of an open database. SQLite continues to write to a file that was renamed or removed, where no reader finds it;
 * this counts what was acknowledged since the file was last seen at its path, so that a loss is reported.
 */
export class FilePlace {
  readonly #file: string;
  readonly #opened: BigIntStats;
  #lookedAt = Number.NEGATIVE_INFINITY;
  #unseenWrites = 0;
  #isReported = false;

  /** To be made as soon as the file is open. */
  constructor(file: string) {
    this.#file = file;
    this.#opened = statSync(file, { bigint: true });
  }

  /**
   * Looks, unless it did so within `longestUnseen` milliseconds.
   * @throws STORE_CORRUPT where the file was renamed, removed or replaced
   */
  assertKept(longestUnseen: number): void {
    const now = performance.now();
    if (now - this.#lookedAt < longestUnseen) return;
    if (!this.#isKept()) throw this.#movedError('Nothing of this call was written.');
    this.#lookedAt = now;
    this.#unseenWrites = 0;
    this.#isReported = false;
  }

  noteWrite(): void {
    this.#unseenWrites += 1;
  }

  /** Before the database is closed. @throws STORE_CORRUPT for acknowledged writes that went elsewhere, unless a write has reported them */
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
    const change = isReplaced ? 'replaced by another file' : moveInWords(now);
    const count =
      unseenWrites === 1 ? 'The last acknowledged write' : `The last ${unseenWrites} acknowledged writes`;
    const lost = unseenWrites === 0 ? '' : ` ${count} may be missing there.`;
    return new StoreError(
      'STORE_CORRUPT',
      `${file} was ${change} while this store was writing to it. ${ofThisCall}${lost} ${adviceFor(file, now, isReplaced)}`,
      { details: { file, movedTo: pathOf(now), unseenWrites } },
    );
  }
}

function moveInWords(now: Whereabouts): string {
  if (now === null) return 'renamed or removed';
  return now === 'nowhere' ? 'removed' : 'renamed';
}

/** The write-ahead log stays at the old path, and SQLite finds it only beside the file that it belongs to. */
function adviceFor(file: string, now: Whereabouts, isReplaced: boolean): string {
  const log = existsSync(`${file}-wal`) ? ` and its latest events in ${file}-wal` : '';
  const putBack = `${isReplaced ? 'move the other file away, then ' : ''}move it back to ${file} before anything else opens that path`;
  if (now === 'nowhere') {
    return 'Its data is gone once the stores that have it open are closed: read from them what you need, then restore a backup.';
  }
  if (now === null)
    return `Close the stores that have it open. If it was renamed, ${putBack}; otherwise restore a backup.`;
  return `Its data is in ${now.path}${log}: close the stores that have it open, then ${putBack}.`;
}

function pathOf(now: Whereabouts): string | null {
  return now === null || now === 'nowhere' ? null : now.path;
}

/** Asks the system, which only Linux answers, where a file that this process has open is now. */
function findOpenFile(opened: BigIntStats): Whereabouts {
  const folder = '/proc/self/fd';
  try {
    for (const fd of readdirSync(folder)) {
      const link = join(folder, fd);
      const found = statSync(link, { bigint: true, throwIfNoEntry: false });
      if (found === undefined || !isSameFile(found, opened)) continue;
      return found.nlink === 0n ? 'nowhere' : { path: readlinkSync(link) };
    }
  } catch {
    // The error that is being made matters more than where the file is.
  }
  return null;
}

function isSameFile(left: BigIntStats, right: BigIntStats): boolean {
  return left.ino === right.ino && left.dev === right.dev;
}
