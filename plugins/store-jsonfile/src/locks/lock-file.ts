import { type Lease, orMissing, parseLease } from '@hansard/store-kit';
import { OpenFile } from '../lines/open-file.ts';
import type { StoreSystem } from '../store-system.ts';

/** A lock file, as it was read. */
export interface LockFile {
  readonly path: string;
  readonly epoch: number;
  /** Null if the file is not a lease. */
  readonly lease: Lease | null;
  /** Whether a loss of power left no content, or only its beginning: a lock appears complete. */
  readonly isTorn: boolean;
  readonly inode: number;
  /** The time of its heartbeat. */
  readonly beat: number;
  /** The monotonic time from before it was read. */
  readonly readFrom: number;
}

/** Null if there is no such file. */
export function readLockFile(
  { files, clock }: Pick<StoreSystem, 'files' | 'clock'>,
  path: string,
  epoch: number,
): LockFile | null {
  // Costs less than a refused `open`, and most locks that are looked for do not exist.
  if (orMissing(() => files.lstat(path)) === null) return null;
  const readFrom = clock.monotonic();
  const file = orMissing(() => OpenFile.open(files, path, 'read'));
  if (file === null) return null;
  try {
    const text = file.readText();
    const { ino, mtimeMs } = file.stats();
    const lease = parseLease(text);
    return { path, epoch, lease, isTorn: isTornText(text), inode: ino, beat: mtimeMs, readFrom };
  } finally {
    file.close();
  }
}

export function lockPath(path: string, epoch: number): string {
  return `${path}.${epoch}`;
}

/** Nothing, zeros, or JSON without its end. The lock of a later version is complete JSON, or it begins otherwise. */
function isTornText(text: string): boolean {
  return text === '' || text.includes('\0') || (text.startsWith('{') && !text.trimEnd().endsWith('}'));
}
