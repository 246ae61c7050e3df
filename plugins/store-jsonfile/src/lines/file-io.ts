import { closeSync, constants, fsyncSync, openSync, readSync, renameSync, writeSync } from 'node:fs';

/** Opens a dispatch for reading or for changes in place, never through a symbolic link. */
export function openFile(path: string, access: 'read' | 'write'): number {
  return openSync(
    path,
    (access === 'read' ? constants.O_RDONLY : constants.O_RDWR) | (constants.O_NOFOLLOW ?? 0),
  );
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
  const fd = openSync(temporary, 'w');
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
