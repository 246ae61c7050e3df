import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  lstatSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  type Stats,
  writeSync,
} from 'node:fs';
import { isSystemError, notAFile } from '../errors.ts';

const { O_CREAT, O_RDONLY, O_RDWR, O_TRUNC } = constants;
/** What Windows does not have is undefined there. */
const { O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants as Partial<typeof constants>;

const flags = {
  read: O_RDONLY | O_NOFOLLOW,
  /** Follows symbolic links. */
  'read linked': O_RDONLY,
  write: O_RDWR | O_NOFOLLOW,
  replace: O_RDWR | O_NOFOLLOW | O_CREAT | O_TRUNC,
} as const;

/** How the system refuses to open what is not a regular file: links, folders, FIFOs and sockets. */
const refusals = new Set(['ELOOP', 'EISDIR', 'ENXIO', 'ENODEV', 'EOPNOTSUPP', 'EMLINK']);

/**
 * Opens a regular file of the store. Anything else in its place is refused without waiting: a FIFO would block the process
 * until another one opens it, and a device may never end.
 * @throws STORE_CORRUPT where something else lies there
 */
export function openFile(path: string, access: keyof typeof flags): number {
  const fd = openWithoutWaiting(path, flags[access]);
  const stats = fstatSync(fd);
  if (stats.isFile()) return fd;
  closeSync(fd);
  throw notAFile(path, kindOf(stats));
}

function openWithoutWaiting(path: string, flag: number): number {
  try {
    return openSync(path, flag | O_NONBLOCK);
  } catch (error) {
    if (!isSystemError(error) || !refusals.has(error.code)) throw error;
    const stats = lstatSync(path);
    throw stats.isFile() ? error : notAFile(path, kindOf(stats));
  }
}

function kindOf(stats: Stats): string {
  if (stats.isDirectory()) return 'a folder';
  if (stats.isSymbolicLink()) return 'a symbolic link';
  if (stats.isFIFO()) return 'a named pipe (FIFO)';
  return stats.isSocket() ? 'a socket' : 'a device';
}

/** The text of a small file of the store. */
export function readText(path: string, access: 'read' | 'read linked'): string {
  const fd = openFile(path, access);
  try {
    return readFileSync(fd, 'utf8');
  } finally {
    closeSync(fd);
  }
}

/** Reads into `buffer` until it holds `length` more bytes or the file ends; gives the number of bytes read. */
export function readInto(
  fd: number,
  buffer: Buffer,
  offset: number,
  length: number,
  position: number,
): number {
  let done = 0;
  while (done < length) {
    const count = readSync(fd, buffer, offset + done, length - done, position + done);
    if (count === 0) break;
    done += count;
  }
  return done;
}

/** The bytes from `from` to before `to`; fewer where the file ends earlier. */
export function readBytes(fd: number, from: number, to: number): Buffer {
  const buffer = Buffer.allocUnsafe(Math.max(0, to - from));
  return buffer.subarray(0, readInto(fd, buffer, 0, buffer.length, from));
}

/** Writes the first `length` bytes, however many calls the system makes of it. */
export function writeFully(fd: number, buffer: Buffer, length: number, position: number): void {
  let done = 0;
  while (done < length) done += writeSync(fd, buffer, done, length - done, position + done);
}

/** Puts a file in its place whole: written beside it, then renamed over it. */
export function replaceFile(path: string, temporary: string, content: Buffer, sync: boolean): void {
  const fd = openFile(temporary, 'replace');
  try {
    writeFully(fd, content, content.length, 0);
    if (sync) fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
  renameSync(temporary, path);
}

/** Makes the names in a folder survive the loss of power, where the system can. */
export function syncFolder(folder: string): void {
  if (process.platform === 'win32') return;
  const fd = openSync(folder, 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
