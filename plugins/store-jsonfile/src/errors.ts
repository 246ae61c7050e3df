import { isStoreError, StoreError } from '@hansard/provider';

/** A stored file that does not hold what it must: never read as a shorter log. */
export function corrupt(file: string, offset: number, what: string, cause?: unknown): StoreError {
  return new StoreError(
    'STORE_CORRUPT',
    `${file} is damaged at byte ${offset}: ${what}. Restore the file from a copy, or repair it by hand.`,
    { details: { file, offset }, cause },
  );
}

/** A file that ends before events which were acknowledged; `end` is how far they reached. */
export function eventsMissing(file: string, size: number, end: number): StoreError {
  return corrupt(file, size, `it ends here, and its events reached to byte ${end}`);
}

/** Something else in the place of a file, such as a folder. */
export function notAFile(file: string, kind: string): StoreError {
  return new StoreError(
    'STORE_CORRUPT',
    `${file} is ${kind}, and not a regular file. Move it away, and restore the file from a copy where there was one.`,
    { details: { file } },
  );
}

export function notFound(taskDir: string, dispatchId: string): StoreError {
  return new StoreError(
    'STORE_DISPATCH_NOT_FOUND',
    `There is no dispatch ${dispatchId} in ${taskDir}; create it first.`,
    { details: { taskDir, dispatchId } },
  );
}

/** What the system refused as a coded error; errors that have a code of the store, and mistakes in programs, as they are. */
export function fileError(error: unknown, action: string, path: string): unknown {
  if (isStoreError(error) || !isSystemError(error)) return error;
  const place = error.path ?? path;
  if (error.code === 'ENAMETOOLONG') {
    return new StoreError('STORE_INVALID_PATH', `${place} is too long a name for this file system.`, {
      details: { file: place },
      cause: error,
    });
  }
  return new StoreError(
    'STORE_UNAVAILABLE',
    `Could not ${action} ${place}: ${error.message}. Check the disk and its permissions, then try again.`,
    { details: { file: place, reason: error.code }, cause: error },
  );
}

/** Runs file operations; what the system refuses becomes a coded error. */
export function withFile<T>(action: string, path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw fileError(error, action, path);
  }
}

/** Runs file operations; null where a file or folder on the way is not there. */
export function orMissing<T>(work: () => T): T | null {
  try {
    return work();
  } catch (error) {
    if (isSystemError(error) && (error.code === 'ENOENT' || error.code === 'ENOTDIR')) return null;
    throw error;
  }
}

export function isSystemError(error: unknown): error is NodeJS.ErrnoException & { code: string } {
  return error instanceof Error && 'syscall' in error && 'code' in error && typeof error.code === 'string';
}
