import { type BigIntStats, readFileSync, statSync } from 'node:fs';
import { type StoreError, storeErrors } from '@hansard/provider';
import { isSystemError, isTransientSystemError } from '@hansard/store-kit';

/** SQLite's primary result codes: https://sqlite.org/rescode.html */
const result = {
  error: 1,
  perm: 3,
  busy: 5,
  locked: 6,
  noMemory: 7,
  readonly: 8,
  io: 10,
  corrupt: 11,
  full: 13,
  cantOpen: 14,
  protocol: 15,
  notDatabase: 26,
} as const;

const unavailable: Readonly<Record<number, string>> = {
  [result.perm]: 'may not be opened. Check its permissions',
  [result.busy]: 'is busy: PROCESS has been writing for too long. Try again',
  [result.noMemory]: 'could not be used, because there is no memory. Try again',
  [result.protocol]: 'is busy: PROCESS has been opening it for too long. Try again',
  [result.locked]: 'is locked by another connection. Try again',
  [result.readonly]: 'may not be written. Check the permissions of the file and of its folder',
  [result.io]: 'could not be read or written. Check the disk',
  [result.full]: 'has no free space on its disk. This call wrote nothing. Free some space and try again',
  [result.cantOpen]: 'could not be opened. Check that the folder exists and may be written',
};

/**
 * Results that pass by themselves. Each refuses a statement that has changed nothing, or rolls its transaction back; a protocol error is
 * a lost race for the start of the log. A full disk, a failing one and a missing permission need somebody who removes the reason.
 */
const transientResults: ReadonlySet<number> = new Set([
  result.busy,
  result.locked,
  result.noMemory,
  result.protocol,
]);

/** Whether another connection has had the lock for longer than a call may wait. */
export function isBusy(error: unknown): boolean {
  return resultCode(error) === result.busy;
}

/** An error of SQLite or of the file system as an error of the contract. Any other error is returned unchanged. */
export function toStoreError(error: unknown, file: string): unknown {
  const code = resultCode(error);
  if (isDamage(error)) return corrupt(file, (error as Error).message, { cause: error });
  if (code === null && !isSystemError(error)) return error;
  const reason = (error as Error).message;
  const what =
    code === null
      ? 'could not be opened or created'
      : (unavailable[code] ?? 'refused a statement').replace('PROCESS', () => lockOwner(file));
  return storeErrors.error('STORE_UNAVAILABLE', `${file} ${what} (${reason}).`, {
    cause: error,
    details: { file },
    isTransient: code === null ? isTransientSystemError(error) : transientResults.has(code),
  });
}

/** As `toStoreError`, for a database that is being opened: its tables must have what the statements of this store need. */
export function toOpenError(error: unknown, file: string): unknown {
  if (resultCode(error) !== result.error) return toStoreError(error, file);
  return corrupt(file, `its tables cannot be used (${(error as Error).message})`, { cause: error });
}

/** The error of a database that a process has left in the middle of its opening, for longer than a call may wait. */
export function openingHeld(file: string): StoreError {
  return storeErrors.error(
    'STORE_UNAVAILABLE',
    `${file} is busy: ${lockOwner(file)} began to open it, and has not finished. Try again.`,
    { isTransient: true, details: { file } },
  );
}

/** The process that keeps others from writing, in words. Only Linux reports it. */
function lockOwner(file: string): string {
  const [pid] = lockOwners(file);
  if (pid === undefined) return 'another process';
  if (pid === process.pid) return 'another opening of this process';
  return isStopped(pid) ? `process ${pid}, which is stopped (SIGCONT lets it continue),` : `process ${pid}`;
}

const lockLine = /^\d+: \w+ +\w+ +WRITE +(\d+) +([\da-f]+):([\da-f]+):(\d+) /;

/** The processes with an exclusive lock of the database or of its shared memory; none where the system does not list them. */
export function lockOwners(file: string): number[] {
  if (process.platform !== 'linux') return [];
  try {
    const places = new Set(
      [file, `${file}-shm`].flatMap((path) => {
        const found = statSync(path, { bigint: true, throwIfNoEntry: false });
        return found === undefined ? [] : [placeOf(found)];
      }),
    );
    return readFileSync('/proc/locks', 'latin1')
      .split('\n')
      .flatMap((line) => {
        const [, pid, major, minor, inode] = lockLine.exec(line) ?? [];
        const place = `${Number.parseInt(major ?? '', 16)}:${Number.parseInt(minor ?? '', 16)}:${inode}`;
        return pid !== undefined && places.has(place) ? [Number(pid)] : [];
      });
  } catch {
    // The caller is creating another error, or can do without.
    return [];
  }
}

/** As in `/proc/locks`: the numbers of the device, and the inode. */
function placeOf({ dev, ino }: BigIntStats): string {
  const major = ((dev >> 8n) & 0xfffn) | ((dev >> 32n) & ~0xfffn);
  const minor = (dev & 0xffn) | ((dev >> 12n) & 0xffffff00n);
  return `${major}:${minor}:${ino}`;
}

function isStopped(pid: number): boolean {
  try {
    return /^\d+ \(.*\) [Tt]/s.test(readFileSync(`/proc/${pid}/stat`, 'latin1'));
  } catch {
    return false;
  }
}

interface DamageOptions {
  readonly advice?: string;
  readonly cause?: unknown;
  readonly details?: Record<string, unknown>;
}

const recoverAdvice =
  'Keep a copy, then restore a backup, or extract the readable data with the command .recover of sqlite3.';

/** A STORE_CORRUPT that names the file and the damage. */
export function corrupt(
  file: string,
  reason: string,
  { advice = recoverAdvice, cause, details }: DamageOptions = {},
): StoreError {
  return storeErrors.error('STORE_CORRUPT', `${file} is damaged: ${reason}. ${advice}`, {
    cause,
    details: { file, ...details },
  });
}

/** Whether SQLite found damage, including a number that no column of this store can have. */
export function isDamage(error: unknown): boolean {
  if ((error as { code?: unknown } | null)?.code === 'ERR_OUT_OF_RANGE') return true;
  const code = resultCode(error);
  if (code === result.corrupt || code === result.notDatabase) return true;
  return code !== null && (error as Error).message.includes('malformed JSON');
}

/** Whether a permission of the file or of its folder is missing. */
export function isPermissionError(error: unknown): boolean {
  const code = resultCode(error);
  return code === result.readonly || code === result.cantOpen;
}

function resultCode(error: unknown): number | null {
  const { code, errcode } = (error ?? {}) as { code?: unknown; errcode?: unknown };
  return code === 'ERR_SQLITE_ERROR' && typeof errcode === 'number' ? errcode & 0xff : null;
}
