import { closeSync, fstatSync, statSync } from 'node:fs';
import type { DispatchEnvelope } from '@hansard/events';
import { dispatchNotFound, orMissing } from '@hansard/store-kit';
import type { DispatchPaths } from '../disk-format.ts';
import { corrupt, eventsMissing } from '../errors.ts';
import { openFile } from '../lines/file-io.ts';
import { readHead } from './dispatch-head.ts';

export interface DispatchName {
  readonly taskDir: string;
  readonly dispatchId: string;
  readonly paths: DispatchPaths;
}

/** The open file of a dispatch. */
export interface DispatchFile {
  readonly fd: number;
  readonly inode: number;
  /** The offset after the bracket that opens the events. */
  readonly start: number;
}

/** @throws STORE_DISPATCH_NOT_FOUND, STORE_CORRUPT */
export function openDispatchFile(name: DispatchName, access: 'read' | 'write'): DispatchFile {
  const fd = orMissing(() => openFile(name.paths.file, access));
  if (fd === null) throw dispatchNotFound(name.taskDir, name.dispatchId);
  try {
    const { start } = readHead(fd, name.paths.file);
    return { fd, inode: fstatSync(fd).ino, start };
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

/**
 * Checks that the open file is at its path and has its bytes up to `end`.
 * @throws STORE_DISPATCH_NOT_FOUND; STORE_CORRUPT if another program replaced the file, such as an editor that saved it, or
 * made it shorter
 */
export function assertInPlace(
  { inode }: DispatchFile,
  { taskDir, dispatchId, paths }: DispatchName,
  end: number,
): void {
  const stats = orMissing(() => statSync(paths.file));
  if (stats === null) throw dispatchNotFound(taskDir, dispatchId);
  if (stats.ino !== inode)
    throw corrupt(paths.file, 0, 'another program replaced the file while this store was writing it');
  if (stats.size < end) throw eventsMissing(paths.file, stats.size, end);
}

/** The envelope of a dispatch, or null if there is no file. @throws STORE_CORRUPT */
export function readDispatchEnvelope(file: string): DispatchEnvelope | null {
  const fd = orMissing(() => openFile(file, 'read'));
  if (fd === null) return null;
  try {
    return readHead(fd, file).envelope;
  } finally {
    closeSync(fd);
  }
}
