import { constants as bufferConstants } from 'node:buffer';
import { constants } from 'node:fs';
import { dirname } from 'node:path';
import { storeErrors } from '@hansard/provider';
import { isSystemError, linkIfFree } from '@hansard/store-kit';
import { notAFile } from '../errors.ts';
import type { FileStats, Files } from '../files.ts';

const { O_CREAT, O_EXCL, O_RDONLY, O_RDWR, O_TRUNC } = constants;
/** Undefined on Windows, which does not have them. */
const { O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants as Partial<typeof constants>;

const flags = {
  read: O_RDONLY | O_NOFOLLOW,
  /** Follows symbolic links. */
  'read linked': O_RDONLY,
  write: O_RDWR | O_NOFOLLOW,
  replace: O_RDWR | O_NOFOLLOW | O_CREAT | O_TRUNC,
  create: O_RDWR | O_NOFOLLOW | O_CREAT | O_EXCL,
} as const;

/** The codes with which systems refuse to open links, folders, FIFOs and sockets. */
const refusals = new Set(['ELOOP', 'EISDIR', 'ENXIO', 'ENODEV', 'EOPNOTSUPP', 'EMLINK']);

const firstRead = 4_096;

/** An open regular file of the store. */
export class OpenFile {
  #path: string;
  readonly inode: number;
  readonly #files: Files;
  readonly #fd: number;
  readonly #sizeWhenOpened: number;

  /**
   * Opens a regular file. It never waits: a FIFO would block the process until another process opens it, and reading a
   * device might never end.
   * @throws STORE_CORRUPT if the path is not a regular file
   */
  static open(files: Files, path: string, access: keyof typeof flags): OpenFile {
    const fd = openWithoutWaiting(files, path, flags[access]);
    let stats: FileStats | null = null;
    try {
      stats = files.statOpen(fd);
    } finally {
      if (stats?.isFile() !== true) files.close(fd);
    }
    if (!stats.isFile()) throw notAFile(path, kindOf(stats));
    return new OpenFile(files, path, fd, stats);
  }

  private constructor(files: Files, path: string, fd: number, { ino, size }: FileStats) {
    this.#files = files;
    this.#path = path;
    this.#fd = fd;
    this.inode = ino;
    this.#sizeWhenOpened = Number(size);
  }

  get path(): string {
    return this.#path;
  }

  /** The file has this name now. */
  named(path: string): OpenFile {
    this.#path = path;
    return this;
  }

  /** Reads `length` bytes into `buffer`, fewer if the file ends earlier. @returns the number of bytes read */
  readInto(buffer: Buffer, offset: number, length: number, position: number): number {
    let done = 0;
    while (done < length) {
      const count = this.#files.read(this.#fd, buffer, offset + done, length - done, position + done);
      if (count === 0) break;
      done += count;
    }
    return done;
  }

  /** The bytes from `from` to before `to`; fewer if the file ends earlier. */
  read(from: number, to: number): Buffer {
    const buffer = Buffer.allocUnsafe(Math.max(0, to - from));
    return buffer.subarray(0, this.readInto(buffer, 0, buffer.length, from));
  }

  /** The whole file as UTF-8. @throws STORE_TOO_LARGE, before it reads a file of which no string can be made */
  readText(): string {
    if (this.#sizeWhenOpened > bufferConstants.MAX_STRING_LENGTH)
      throw storeErrors.error(
        'STORE_TOO_LARGE',
        `Could not read ${this.#path}: it has ${this.#sizeWhenOpened} bytes, more than a text of this process can have.`,
        { details: { file: this.#path } },
      );
    const chunks: Buffer[] = [];
    for (let from = 0, size = firstRead; ; size *= 2) {
      const chunk = this.read(from, from + size);
      chunks.push(chunk);
      from += chunk.length;
      if (chunk.length < size) return Buffer.concat(chunks).toString();
    }
  }

  /** Writes `length` bytes of `buffer`, from its offset `from`, with as many calls as the system needs. */
  write(buffer: Buffer, length: number, position: number, from = 0): void {
    let done = this.#files.write(this.#fd, buffer, from, length, position);
    while (done < length)
      done += this.#files.write(this.#fd, buffer, from + done, length - done, position + done);
  }

  truncate(length: number): void {
    this.#files.truncate(this.#fd, length);
  }

  sync(): void {
    this.#files.sync(this.#fd);
  }

  syncData(): void {
    this.#files.syncData(this.#fd);
  }

  stats(): FileStats {
    return this.#files.statOpen(this.#fd);
  }

  close(): void {
    this.#files.close(this.#fd);
  }
}

function openWithoutWaiting(files: Files, path: string, flag: number): number {
  try {
    return files.open(path, flag | O_NONBLOCK);
  } catch (error) {
    if (!isSystemError(error) || !refusals.has(error.code)) throw error;
    const stats = files.lstat(path);
    throw stats === null || stats.isFile() ? error : notAFile(path, kindOf(stats));
  }
}

function kindOf(stats: FileStats): string {
  if (stats.isDirectory()) return 'a folder';
  if (stats.isSymbolicLink()) return 'a symbolic link';
  if (stats.isFIFO()) return 'a named pipe (FIFO)';
  return stats.isSocket() ? 'a socket' : 'a device';
}

/** The text of a small file of the store. */
export function readText(files: Files, path: string, access: 'read' | 'read linked'): string {
  const file = OpenFile.open(files, path, access);
  try {
    return file.readText();
  } finally {
    file.close();
  }
}

/** Replaces a file by complete content: writes a temporary file and renames it over the path. */
export function replaceFile(
  files: Files,
  path: string,
  temporary: string,
  content: Buffer,
  sync: boolean,
): void {
  const file = OpenFile.open(files, temporary, 'replace');
  try {
    file.write(content, content.length, 0);
    if (sync) file.sync();
  } finally {
    file.close();
  }
  files.rename(temporary, path);
}

/** A temporary file that somebody left can be the second name of a file that was created. So it is never written. */
function openNew(files: Files, path: string): OpenFile {
  try {
    return OpenFile.open(files, path, 'create');
  } catch (error) {
    if (!isSystemError(error) || error.code !== 'EEXIST') throw error;
    // Something else than a file stays where it is.
    OpenFile.open(files, path, 'write').close();
    files.remove(path);
    return OpenFile.open(files, path, 'create');
  }
}

/**
 * Creates a file with complete content: writes a temporary file and gives it the path as its second name. A rename would
 * replace the file that another process created meanwhile. @returns the open file; null if there is such a file
 */
export function createFile(
  files: Files,
  path: string,
  temporary: string,
  content: Buffer,
  sync: boolean,
): OpenFile | null {
  const file = openNew(files, temporary);
  let isCreated = false;
  try {
    file.write(content, content.length, 0);
    if (sync) file.sync();
    isCreated = linkIfFree(temporary, path, files.link);
    return isCreated ? file.named(path) : null;
  } finally {
    if (!isCreated) file.close();
    files.remove(temporary);
  }
}

/** Writes the names in a folder to the disk. Windows cannot do that. */
export function syncFolder(files: Files, folder: string): void {
  if (process.platform === 'win32') return;
  const fd = files.open(folder, O_RDONLY);
  try {
    files.sync(fd);
  } finally {
    files.close(fd);
  }
}

/** Writes the names in a folder, and in each one above it, to the disk, up to `root`. */
export function syncFolders(files: Files, folder: string, root: string): void {
  for (let path = folder; path.startsWith(root); path = dirname(path)) {
    syncFolder(files, path);
    if (path === root) return;
  }
}

/** The part of an open file that consists of complete event lines. */
export interface EventRange {
  readonly file: OpenFile;
  /** The offset after the opening bracket; the first line begins one byte later. */
  readonly start: number;
  /** The offset after the last event; equal to `start` if there is none. */
  readonly end: number;
  /** The number of events; null if it is not known without reading them. */
  readonly count: number | null;
  /** The checksum before the first event. */
  readonly seed: number;
}
