import { type Dirent, readdirSync, realpathSync } from 'node:fs';
import { basename, dirname, join, sep } from 'node:path';
import { assertTaskDir, isStoreError, StoreError } from '@hansard/provider';
import { orMissing } from './errors.ts';

const reservedNames = new Set(['dispatches', 'task.json']);
const dispatchFile = /^([A-Za-z0-9_-][A-Za-z0-9._-]{0,127})\.json$/;

/** The places of one dispatch. The temporary file is written only by who has the lock. */
export interface DispatchPaths {
  readonly file: string;
  readonly lock: string;
  readonly temporary: string;
  readonly folder: string;
  readonly task: string;
}

/**
 * The folder of a task, be it there or not.
 * @throws STORE_INVALID_PATH also where a symbolic link on the way leads out of the root
 */
export function resolveTaskFolder(root: string, taskDir: string): string {
  assertTaskDir(taskDir);
  const segments = taskDir.split('/');
  const reserved = segments.find((segment) => reservedNames.has(segment.toLowerCase()));
  if (reserved !== undefined)
    throw invalidPath(taskDir, `this store has its own use for the name ${reserved}`);
  const folder = join(root, ...segments);
  const real = realPath(dispatchesFolder(folder));
  if (real !== root && !real.startsWith(root.endsWith(sep) ? root : root + sep))
    throw invalidPath(taskDir, `it leads to ${real}, outside of ${root}`);
  return folder;
}

function dispatchesFolder(taskFolder: string): string {
  return join(taskFolder, 'dispatches');
}

export function dispatchPaths(taskFolder: string, dispatchId: string): DispatchPaths {
  const folder = dispatchesFolder(taskFolder);
  return {
    task: taskFolder,
    folder,
    file: join(folder, `${dispatchId}.json`),
    lock: join(folder, `${dispatchId}.lock`),
    temporary: join(folder, `.${dispatchId}.tmp`),
  };
}

/** The ids of the dispatches that lie in a task's folder; none where the folder is not there. */
export function listDispatchIds(taskFolder: string): string[] {
  const names = orMissing(() => readdirSync(dispatchesFolder(taskFolder))) ?? [];
  return names.flatMap((name) => dispatchFile.exec(name)?.[1] ?? []);
}

/**
 * Every folder below the root, if there is one, that may be a task's, by name; so may one that can't be looked into. Links
 * are not followed, other files are passed over.
 */
export function* walkTaskDirs(folder: string, prefix = ''): Generator<string> {
  let entries: Dirent[];
  try {
    entries = orMissing(() => readdirSync(folder, { withFileTypes: true })) ?? [];
  } catch (error) {
    if (prefix === '') throw error;
    yield prefix;
    return;
  }
  entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  if (prefix !== '' && entries.some(isOfTask)) yield prefix;
  for (const entry of entries) {
    if (!entry.isDirectory() || reservedNames.has(entry.name.toLowerCase()) || !isSegment(entry.name))
      continue;
    yield* walkTaskDirs(join(folder, entry.name), prefix === '' ? entry.name : `${prefix}/${entry.name}`);
  }
}

/** A path without symbolic links, also where its end is not there yet. */
export function realPath(path: string): string {
  const real = orMissing(() => realpathSync.native(path));
  if (real !== null) return real;
  const parent = dirname(path);
  return parent === path ? path : join(realPath(parent), basename(path));
}

function isOfTask(entry: Dirent): boolean {
  return entry.name === 'dispatches' ? entry.isDirectory() : entry.name === 'task.json' && entry.isFile();
}

function isSegment(name: string): boolean {
  try {
    assertTaskDir(name);
    return true;
  } catch (error) {
    if (isStoreError(error)) return false;
    throw error;
  }
}

function invalidPath(taskDir: string, reason: string): StoreError {
  return new StoreError('STORE_INVALID_PATH', `${JSON.stringify(taskDir)} can't be a task: ${reason}.`, {
    details: { taskDir },
  });
}
