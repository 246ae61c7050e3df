import { linkSync, realpathSync, statfsSync } from 'node:fs';
import { basename, dirname, join, sep } from 'node:path';
import { assertDispatchId, assertTaskDir, storeErrors } from '@hansard/provider';

/** Whether a call of the operating system failed, such as one of `node:fs`. */
export function isSystemError(error: unknown): error is NodeJS.ErrnoException & { code: string } {
  return error instanceof Error && 'syscall' in error && 'code' in error && typeof error.code === 'string';
}

/** Refusals that pass by themselves: of a process or a machine that has no free descriptor or memory now, of a busy file, of a slow server. */
const transientCodes = new Set(['EAGAIN', 'EBUSY', 'EINTR', 'EMFILE', 'ENFILE', 'ENOMEM', 'ETIMEDOUT']);

/**
 * Whether the operating system may accept the same call a little later. A full disk, a missing permission and a disk that fails need
 * somebody who removes the reason.
 */
export function isTransientSystemError(error: unknown): boolean {
  return isSystemError(error) && transientCodes.has(error.code);
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

/** The file systems on other machines, by the number that `statfs` of Linux gives. FUSE is not among them: it is also that of containers and of encrypted folders. */
const networkFileSystems: ReadonlyMap<number, string> = new Map([
  [0x6969, 'NFS'],
  [0x517b, 'SMB'],
  [0xff534d42, 'SMB'],
  [0xfe534d42, 'SMB'],
  [0x01021997, '9p'],
  [0x00c36400, 'Ceph'],
  [0x0bd00bd0, 'Lustre'],
  [0x47504653, 'GPFS'],
]);

/** Milliseconds: how long a machine may show an old state of a file, as these file systems are mounted by default. */
const longestAttributeCache = 60_000;

/** The number of the file system of a path, or of the nearest folder if nothing has the path; null where the system does not say it. */
export function fileSystemOf(path: string): number | null {
  if (process.platform !== 'linux') return null;
  const found = orMissing(() => statfsSync(path).type);
  if (found !== null) return found;
  return dirname(path) === path ? null : fileSystemOf(dirname(path));
}

/**
 * Refuses a claim in a file system of another machine. There, a machine can see a heartbeat only after its lease has
 * expired, and take a dispatch over from an owner that still writes. A `leaseMs` that is longer than the cache is
 * allowed. Null: no claim is allowed.
 * @throws STORE_UNAVAILABLE
 */
export function assertNotRemote(
  path: string,
  leaseMs: number | null,
  type: number | null = fileSystemOf(path),
): void {
  const name = type === null ? undefined : networkFileSystems.get(type >>> 0);
  if (name === undefined || (leaseMs !== null && leaseMs > longestAttributeCache)) return;
  const seconds = longestAttributeCache / 1_000;
  const [reason, advice] =
    leaseMs === null
      ? [
          'whose shared memory other machines do not see',
          'Move it to a local disk, or use @hansard/store-postgres.',
        ]
      : [
          `where another machine can see a change of a file ${seconds} seconds late, and a lease lasts ${leaseMs / 1_000}`,
          `Move it to a local disk, use @hansard/store-postgres, or set \`leaseMs\` above ${longestAttributeCache} and mount NFS with lookupcache=positive.`,
        ];
  throw storeErrors.error(
    'STORE_UNAVAILABLE',
    `${path} is on ${name}, a file system of another machine, ${reason}: two processes could write one dispatch. ${advice} Reading needs no claim.`,
    { details: { file: path, reason: name } },
  );
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
 * A refusal of the operating system as an error of the contract: STORE_INVALID_PATH for a name that is too long,
 * STORE_TOO_LARGE for a value that no string or buffer can hold, otherwise STORE_UNAVAILABLE with the reason, transient as {@link isTransientSystemError} says. Any other error is
 * returned unchanged. `action` is a verb: `append to`.
 */
export function toFileError(error: unknown, action: string, path: string): unknown {
  if (isTooLarge(error))
    return storeErrors.error(
      'STORE_TOO_LARGE',
      `Could not ${action} ${path}: a value is larger than this process can hold (${error.message}).`,
      { details: { file: path }, cause: error },
    );
  if (storeErrors.is(error) || !isSystemError(error)) return error;
  const file = error.path ?? path;
  if (error.code === 'ENAMETOOLONG') {
    return storeErrors.error(
      'STORE_INVALID_PATH',
      `The name ${file} is too long for this file system. Use a shorter one.`,
      { details: { file }, cause: error },
    );
  }
  return storeErrors.error(
    'STORE_UNAVAILABLE',
    `Could not ${action} ${file}: ${error.message}. Check the disk and its permissions, then try again.`,
    {
      details: { file, reason: error.code },
      cause: error,
      isTransient: isTransientSystemError(error),
    },
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

const tooLargeCodes = new Set(['ERR_STRING_TOO_LONG', 'ERR_BUFFER_TOO_LARGE', 'ERR_FS_FILE_TOO_LARGE']);

/** Whether an engine refused to create a string or a buffer because of its length. */
function isTooLarge(error: unknown): error is Error {
  if (!(error instanceof Error)) return false;
  if ('code' in error && tooLargeCodes.has(String(error.code))) return true;
  return (
    error instanceof RangeError &&
    /^(Invalid string length|Array buffer allocation failed)/.test(error.message)
  );
}

/**
 * Refuses names that would leave the root, for a method that receives both.
 * @throws STORE_INVALID_PATH
 */
export function assertDispatchPath(taskDir: string, dispatchId: string): void {
  assertTaskDir(taskDir);
  assertDispatchId(dispatchId);
}

/**
 * The folder of a task below `root`, whether it exists or not. `root` is a path that {@link realPath} returned. `inner` is the
 * folder inside it that the store will use: its symbolic links are checked, too. `resolve` is that of {@link realPath}.
 * @throws STORE_INVALID_PATH for a name that would leave the root, including through a symbolic link
 */
export function taskFolderBelow(
  root: string,
  taskDir: string,
  inner = '',
  resolve: (path: string) => string = realpathSync.native,
): string {
  assertTaskDir(taskDir);
  const folder = join(root, ...taskDir.split('/'));
  const real = realPath(join(folder, inner), resolve);
  if (real === root || real.startsWith(root.endsWith(sep) ? root : root + sep)) return folder;
  throw storeErrors.error(
    'STORE_INVALID_PATH',
    `${JSON.stringify(taskDir)} can't be a task: a symbolic link leads to ${real}, outside of ${root}.`,
    { details: { taskDir } },
  );
}

/**
 * A path without symbolic links. The last parts of the path need not exist. `resolve` asks the file system for one path; a
 * test can replace it.
 */
export function realPath(path: string, resolve: (path: string) => string = realpathSync.native): string {
  const real = orMissing(() => resolve(path));
  if (real !== null) return real;
  const parent = dirname(path);
  return parent === path ? path : join(realPath(parent, resolve), basename(path));
}
