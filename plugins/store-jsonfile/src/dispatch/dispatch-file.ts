import type { DispatchEnvelope } from '@hansard/events';
import { dispatchNotFound, orMissing } from '@hansard/store-kit';
import type { DispatchPaths } from '../disk-format.ts';
import { corrupt } from '../errors.ts';
import type { Files } from '../files.ts';
import { type DispatchHead, readHead } from '../head/dispatch-head.ts';
import { eventsMissing } from '../lines/inspect-lines.ts';
import { OpenFile } from '../lines/open-file.ts';

export interface DispatchName {
  readonly taskDir: string;
  readonly dispatchId: string;
  readonly paths: DispatchPaths;
}

/** The open file of a dispatch. */
export interface DispatchFile {
  readonly open: OpenFile;
  readonly inode: number;
  /** The offset after the bracket that opens the events. */
  readonly start: number;
}

/** @throws STORE_DISPATCH_NOT_FOUND, STORE_CORRUPT */
export function openDispatchFile(files: Files, name: DispatchName, access: 'read' | 'write'): DispatchFile {
  const open = orMissing(() => OpenFile.open(files, name.paths.file, access));
  if (open === null) throw dispatchNotFound(name.taskDir, name.dispatchId);
  try {
    const { start } = readHead(open);
    return { open, inode: open.inode, start };
  } catch (error) {
    open.close();
    throw error;
  }
}

/**
 * Checks that the open file is at its path and has its bytes up to `end`.
 * @throws STORE_DISPATCH_NOT_FOUND; STORE_CORRUPT if another program replaced the file, such as an editor that saved it, or
 * made it shorter
 */
export function assertInPlace(
  files: Files,
  { inode, open, start }: DispatchFile,
  { paths }: DispatchName,
  end: number,
): void {
  const stats = orMissing(() => files.stat(paths.file));
  if (stats === null)
    throw corrupt(paths.file, 0, 'another program moved or removed the file while this store was writing it');
  if (stats.ino !== inode)
    throw corrupt(paths.file, 0, 'another program replaced the file while this store was writing it');
  if (stats.size < end) throw eventsMissing({ file: open, start }, stats.size, end);
}

/** The number of the last claim that a dispatch records; 0 if there is no file. @throws STORE_CORRUPT */
export function readRecordedEpoch(files: Files, path: string): number {
  return readHeadAt(files, path)?.record.epoch ?? 0;
}

/** The envelope of a dispatch, or null if there is no file. @throws STORE_CORRUPT */
export function readDispatchEnvelope(files: Files, path: string): DispatchEnvelope | null {
  return readHeadAt(files, path)?.envelope ?? null;
}

function readHeadAt(files: Files, path: string): DispatchHead | null {
  const file = orMissing(() => OpenFile.open(files, path, 'read'));
  if (file === null) return null;
  try {
    return readHead(file);
  } finally {
    file.close();
  }
}
