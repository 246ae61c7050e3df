import { closeSync, fstatSync, statSync } from 'node:fs';
import type { DispatchEnvelope } from '@hansard/events';
import { corrupt, eventsMissing, notFound, orMissing } from '../errors.ts';
import { openFile } from '../lines/file-io.ts';
import type { DispatchPaths } from '../task-folder.ts';
import { readHead } from './dispatch-head.ts';

export interface DispatchName {
  readonly taskDir: string;
  readonly dispatchId: string;
  readonly paths: DispatchPaths;
}

/** The file of a dispatch, open. */
export interface DispatchFile {
  readonly fd: number;
  readonly inode: number;
  readonly start: number;
}

/** @throws STORE_DISPATCH_NOT_FOUND, STORE_CORRUPT */
export function openDispatchFile(name: DispatchName, access: 'read' | 'write'): DispatchFile {
  const fd = orMissing(() => openFile(name.paths.file, access));
  if (fd === null) throw notFound(name.taskDir, name.dispatchId);
  try {
    const { start } = readHead(fd, name.paths.file);
    return { fd, inode: fstatSync(fd).ino, start };
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

/**
 * Checks that what is written lies where readers find it, as far as `end`.
 * @throws STORE_DISPATCH_NOT_FOUND, STORE_CORRUPT where another program, such as an editor that saved, put another file
 * there or cut this one off
 */
export function assertInPlace(
  { inode }: DispatchFile,
  { taskDir, dispatchId, paths }: DispatchName,
  end: number,
): void {
  const stats = orMissing(() => statSync(paths.file));
  if (stats === null) throw notFound(taskDir, dispatchId);
  if (stats.ino !== inode)
    throw corrupt(paths.file, 0, 'while it was written, another program put this file in its place');
  if (stats.size < end) throw eventsMissing(paths.file, stats.size, end);
}

/** The envelope of a dispatch; null where the dispatch is not there. @throws STORE_CORRUPT */
export function readDispatchEnvelope(file: string): DispatchEnvelope | null {
  const fd = orMissing(() => openFile(file, 'read'));
  if (fd === null) return null;
  try {
    return readHead(fd, file).envelope;
  } finally {
    closeSync(fd);
  }
}
