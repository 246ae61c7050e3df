import { StoreError } from '@hansard/provider';

/** SQLite's primary result codes: https://sqlite.org/rescode.html */
const result = {
  perm: 3,
  busy: 5,
  locked: 6,
  readonly: 8,
  io: 10,
  corrupt: 11,
  full: 13,
  cantOpen: 14,
  constraint: 19,
  notDatabase: 26,
} as const;

const unavailable: Readonly<Record<number, string>> = {
  [result.perm]: 'may not be opened. Check its permissions',
  [result.busy]: 'is busy: another process has been writing for too long. Try again',
  [result.locked]: 'is locked by another connection. Try again',
  [result.readonly]: 'may not be written. Check the permissions of the file and of its folder',
  [result.io]: 'could not be read or written. Check the disk',
  [result.full]: 'has no room left on its disk. Nothing of this call was written; make room and try again',
  [result.cantOpen]: 'could not be opened. Check that the folder is there and may be written',
};

/** What SQLite or the file system threw, as an error of the store; anything else as it is. */
export function toStoreError(error: unknown, file: string): unknown {
  const code = resultCode(error);
  if (code === null && !isSystemError(error)) return error;
  const reason = (error as Error).message;
  if (code === result.corrupt || code === result.notDatabase || reason.includes('malformed JSON')) {
    return corrupt(file, reason, { cause: error });
  }
  const what = code === null ? 'could not be reached or made' : (unavailable[code] ?? 'refused a statement');
  return new StoreError('STORE_UNAVAILABLE', `${file} ${what} (${reason}).`, {
    cause: error,
    details: { file },
  });
}

/** @returns a STORE_CORRUPT that names the file and says what is wrong in it */
export function corrupt(
  file: string,
  reason: string,
  options: { readonly cause?: unknown; readonly details?: Record<string, unknown> } = {},
): StoreError {
  return new StoreError(
    'STORE_CORRUPT',
    `${file} is damaged: ${reason}. Keep a copy, then restore a backup, or save what is left with sqlite3's .recover.`,
    { cause: options.cause, details: { file, ...options.details } },
  );
}

/** Whether a row with that key was there already. */
export function isConstraintError(error: unknown): boolean {
  return resultCode(error) === result.constraint;
}

/** Whether it was refused for want of a permission, of the file or of its folder. */
export function isPermissionError(error: unknown): boolean {
  const code = resultCode(error);
  return code === result.readonly || code === result.cantOpen;
}

function isSystemError(error: unknown): boolean {
  return error instanceof Error && 'syscall' in error;
}

function resultCode(error: unknown): number | null {
  const { code, errcode } = (error ?? {}) as { code?: unknown; errcode?: unknown };
  return code === 'ERR_SQLITE_ERROR' && typeof errcode === 'number' ? errcode & 0xff : null;
}
