import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import type { DispatchEnvelope } from '@hansard/events';
import { isStoreError, StoreError } from '@hansard/provider';
import { replaceFile, syncFolder } from '../lines/file-io.ts';
import type { DispatchName } from './dispatch-file.ts';
import type { DispatchContext } from './dispatch-handle.ts';
import { encodeHead } from './dispatch-head.ts';
import { closings } from './file-tail.ts';

/**
 * Makes a dispatch without events, whole or not at all. One that is `running` is claimed then.
 * @throws STORE_DISPATCH_EXISTS
 */
export function createDispatchFile(
  { claims, sync }: DispatchContext,
  root: string,
  name: DispatchName,
  envelope: DispatchEnvelope,
): void {
  const { file, folder, temporary } = name.paths;
  if (existsSync(file)) throw alreadyThere(name);
  try {
    claims.take(name);
  } catch (error) {
    throw isStoreError(error, 'STORE_LOCKED') ? alreadyThere(name, error) : error;
  }
  let isRunning = false;
  try {
    if (existsSync(file)) throw alreadyThere(name);
    const content = Buffer.concat([encodeHead(envelope, null), Buffer.from(closings.growing)]);
    replaceFile(file, temporary, content, sync);
    if (sync) syncFolders(folder, root);
    isRunning = envelope.status === 'running';
  } finally {
    if (!isRunning) claims.release(name);
  }
}

/** Makes the names of new folders last, from the innermost to the root. */
function syncFolders(folder: string, root: string): void {
  for (let path = folder; path.startsWith(root); path = dirname(path)) {
    syncFolder(path);
    if (path === root) return;
  }
}

function alreadyThere({ taskDir, dispatchId }: DispatchName, cause?: unknown): StoreError {
  return new StoreError(
    'STORE_DISPATCH_EXISTS',
    `${taskDir} already has a dispatch ${dispatchId}; give the new one its own id.`,
    { details: { taskDir, dispatchId }, cause },
  );
}
