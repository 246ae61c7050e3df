import { linkSync } from 'node:fs';
import { isStoreError, StoreError } from '@hansard/provider';

/** Whether a call of the operating system failed, such as one of `node:fs`. */
export function isSystemError(error: unknown): error is NodeJS.ErrnoException & { code: string } {
  return error instanceof Error && 'syscall' in error && 'code' in error && typeof error.code === 'string';
}

/** Runs file operations; null if a file, or by default a folder on the way to it, does not exist. */
export function orMissing<T>(work: () => T, codes: readonly string[] = ['ENOENT', 'ENOTDIR']): T | null {
  try {
    return work();
  } catch (error) {
    if (isSystemError(error) && codes.includes(error.code)) return null;
    throw error;
  }
}

/**
 * Gives a file a second name, if nothing has that name yet. Of several processes that do so at once, exactly one gets true.
 * The file appears under the new name with all its content. The file system must have hard links.
 * `link` asks the file system; a test can replace it.
 */
export function linkIfFree(
  from: string,
  to: string,
  link: (from: string, to: string) => void = linkSync,
): boolean {
  try {
    link(from, to);
    return true;
  } catch (error) {
    if (isSystemError(error) && error.code === 'EEXIST') return false;
    throw error;
  }
}

/**
 * A refusal of the operating system as an error of the contract: STORE_INVALID_PATH for a name that is too long, otherwise
 * STORE_UNAVAILABLE with the reason. Any other error is returned unchanged. `action` is a verb: `append to`.
 */
export function toFileError(error: unknown, action: string, path: string): unknown {
  if (isStoreError(error) || !isSystemError(error)) return error;
  const file = error.path ?? path;
  if (error.code === 'ENAMETOOLONG') {
    return new StoreError(
      'STORE_INVALID_PATH',
      `The name ${file} is too long for this file system. Use a shorter one.`,
      { details: { file }, cause: error },
    );
  }
  return new StoreError(
    'STORE_UNAVAILABLE',
    `Could not ${action} ${file}: ${error.message}. Check the disk and its permissions, then try again.`,
    { details: { file, reason: error.code }, cause: error },
  );
}

/** Runs file operations and converts their errors with {@link toFileError}. */
export function withFile<T>(action: string, path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw toFileError(error, action, path);
  }
}
