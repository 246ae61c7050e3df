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
import { isSystemError } from '@hansard/store-kit';
import { notAFile } from '../errors.ts';

const { O_CREAT, O_RDONLY, O_RDWR, O_TRUNC } = constants;
/** Undefined on Windows, which does not have them. */
const { O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants as Partial<typeof constants>;

const flags = {
  read: O_RDONLY | O_NOFOLLOW,
  /** Follows symbolic links. */
  'read linked': O_RDONLY,
  write: O_RDWR | O_NOFOLLOW,
  replace: O_RDWR | O_NOFOLLOW | O_CREAT | O_TRUNC,
} as const;

/** The codes with which systems refuse to open links, folders, FIFOs and sockets. */
const refusals = new Set(['ELOOP', 'EISDIR', 'ENXIO', 'ENODEV', 'EOPNOTSUPP', 'EMLINK']);

/**
 * Opens a regular file of the store. It never waits: a FIFO would block the process until another process opens it, and
 * reading a device might never end.
 * @throws STORE_CORRUPT if the path is not a regular file
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

/** Reads `length` bytes into `buffer`, fewer if the file ends earlier. @returns the number of bytes read */
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

/** The bytes from `from` to before `to`; fewer if the file ends earlier. */
export function readBytes(fd: number, from: number, to: number): Buffer {
  const buffer = Buffer.allocUnsafe(Math.max(0, to - from));
  return buffer.subarray(0, readInto(fd, buffer, 0, buffer.length, from));
}

/** Writes the first `length` bytes of `buffer`, with as many calls as the system needs. */
export function writeFully(fd: number, buffer: Buffer, length: number, position: number): void {
  let done = 0;
  while (done < length) done += writeSync(fd, buffer, done, length - done, position + done);
}

/** Replaces a file by complete content: writes a temporary file and renames it over the path. */
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

/** Writes the names in a folder to the disk. Windows cannot do that. */
export function syncFolder(folder: string): void {
  if (process.platform === 'win32') return;
  const fd = openSync(folder, 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
