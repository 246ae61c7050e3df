import { join } from 'node:path';
import type { DispatchEnvelope } from '@hansard/events';
import { storeErrors } from '@hansard/provider';
import { dispatchMisplaced, dispatchNotFound, orMissing } from '@hansard/store-kit';
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
  /** The checksum before the first event. */
  readonly seed: number;
}

/** @throws STORE_DISPATCH_NOT_FOUND, STORE_CORRUPT, STORE_MISPLACED */
export function openDispatchFile(files: Files, name: DispatchName, access: 'read' | 'write'): DispatchFile {
  const open = orMissing(() => OpenFile.open(files, name.paths.file, access));
  if (open === null) throw dispatchNotFound(name.taskDir, name.dispatchId);
  try {
    const head = readHead(open);
    assertNamed(files, head, name);
    return { open, inode: open.inode, start: head.start, seed: head.seed };
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
  { inode, open, start, seed }: DispatchFile,
  { paths }: DispatchName,
  end: number,
): void {
  const stats = orMissing(() => files.stat(paths.file));
  if (stats === null)
    throw corrupt(paths.file, 0, 'another program moved or removed the file while this store was writing it');
  if (stats.ino !== inode)
    throw corrupt(paths.file, 0, 'another program replaced the file while this store was writing it');
  if (stats.size < end) throw eventsMissing({ file: open, start, seed }, stats.size, end);
}

/** The number of the last claim that a dispatch records; 0 if there is no file. @throws STORE_CORRUPT */
export function readRecordedEpoch(files: Files, path: string): number {
  return readHeadAt(files, path)?.record.epoch ?? 0;
}

/** The envelope in a file, under whatever name it was written; null if there is no file. @throws STORE_CORRUPT */
export function readStoredEnvelope(files: Files, path: string): DispatchEnvelope | null {
  return readHeadAt(files, path)?.record.envelope ?? null;
}

/** The envelope of a dispatch, or null if there is no file. @throws STORE_CORRUPT, STORE_MISPLACED */
export function readDispatchEnvelope(files: Files, name: DispatchName): DispatchEnvelope | null {
  const head = readHeadAt(files, name.paths.file);
  if (head !== null) assertNamed(files, head, name);
  return head?.record.envelope ?? null;
}

/** The same for the file at the place. One whose head is damaged has no name. @throws STORE_MISPLACED */
export function assertOwnFile(files: Files, name: DispatchName): void {
  let head: DispatchHead | null = null;
  try {
    head = readHeadAt(files, name.paths.file);
  } catch (error) {
    if (!storeErrors.is(error, 'STORE_CORRUPT')) throw error;
  }
  if (head !== null) assertNamed(files, head, name);
}

/**
 * Checks that a log has the name of its place. A task can also be reached through a symbolic link to its folder.
 * @throws STORE_MISPLACED
 */
export function assertNamed(
  files: Files,
  { record }: Pick<DispatchHead, 'record'>,
  { taskDir, dispatchId, paths }: DispatchName,
): void {
  const { taskDir: writtenTaskDir, dispatchId: writtenDispatchId } = record;
  if (dispatchId === writtenDispatchId) {
    if (taskDir === writtenTaskDir) return;
    const root = paths.task.slice(0, paths.task.length - taskDir.length);
    const own = orMissing(() => files.realPath(join(root, writtenTaskDir)));
    if (own !== null && own === files.realPath(paths.task)) return;
  }
  throw dispatchMisplaced({ taskDir, dispatchId, writtenTaskDir, writtenDispatchId }, paths.file);
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
