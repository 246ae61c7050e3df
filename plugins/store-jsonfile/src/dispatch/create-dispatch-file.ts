import { dirname } from 'node:path';
import type { DispatchEnvelope } from '@hansard/events';
import { isStoreError } from '@hansard/provider';
import { dispatchExists } from '@hansard/store-kit';
import { closings } from '../disk-format.ts';
import type { Files } from '../files.ts';
import { replaceFile, syncFolder } from '../lines/open-file.ts';
import type { DispatchName } from './dispatch-file.ts';
import type { DispatchContext } from './dispatch-handle.ts';
import { encodeHead } from './dispatch-head.ts';

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
  try {
    claims.take(name);
  } catch (error) {
    throw isStoreError(error, 'STORE_LOCKED') ? dispatchExists(taskDir, dispatchId, error) : error;
  }
  let isRunning = false;
  try {
    if (files.stat(file) !== null) throw dispatchExists(taskDir, dispatchId);
    const content = Buffer.concat([encodeHead(envelope, null), Buffer.from(closings.growing)]);
    replaceFile(files, file, temporary, content, sync);
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
