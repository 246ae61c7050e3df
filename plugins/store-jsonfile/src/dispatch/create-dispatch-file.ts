import { dirname } from 'node:path';
import type { DispatchEnvelope } from '@hansard/events';
import { isStoreError } from '@hansard/provider';
import { dispatchExists } from '@hansard/store-kit';
import { closings } from '../disk-format.ts';
import type { Files } from '../files.ts';
import { encodeHead, nothingAcknowledged, slotFor } from '../head/head-codec.ts';
import { createFile, syncFolder } from '../lines/open-file.ts';
import type { LockFile } from '../locks/lock-file.ts';
import type { DispatchContext } from './dispatch-context.ts';
import type { DispatchName } from './dispatch-file.ts';

/**
 * Creates a dispatch without events, complete or not at all. A `running` one is claimed.
 * @throws STORE_DISPATCH_EXISTS
 */
export function createDispatchFile(
  { files, claims, sync }: DispatchContext,
  root: string,
  name: DispatchName,
  envelope: DispatchEnvelope,
): void {
  const { taskDir, dispatchId, paths } = name;
  const { file, folder, temporary } = paths;
  if (files.stat(file) !== null) throw dispatchExists(taskDir, dispatchId);
  let epoch: number;
  let lost: readonly LockFile[];
  try {
    ({ epoch, lost } = claims.take(name));
  } catch (error) {
    throw isStoreError(error, 'STORE_LOCKED') ? dispatchExists(taskDir, dispatchId, error) : error;
  }
  let isRunning = false;
  try {
    if (files.stat(file) !== null) throw dispatchExists(taskDir, dispatchId);
    for (const lock of lost) files.remove(temporary(lock.epoch));
    const record = { revision: 1, epoch, acknowledged: nothingAcknowledged, envelope };
    const content = Buffer.concat([encodeHead(record, slotFor(record)), Buffer.from(closings.growing)]);
    if (!createFile(files, file, temporary(epoch), content, sync)) throw dispatchExists(taskDir, dispatchId);
    if (lost.length > 0) claims.removeLost(name);
    if (sync) syncFolders(files, folder, root);
    isRunning = envelope.status === 'running';
  } finally {
    if (!isRunning) claims.release(name);
  }
}

/** Writes the names of new folders to the disk, from the innermost to the root. */
function syncFolders(files: Files, folder: string, root: string): void {
  for (let path = folder; path.startsWith(root); path = dirname(path)) {
    syncFolder(files, path);
    if (path === root) return;
  }
}
