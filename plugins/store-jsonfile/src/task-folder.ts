import type { Dirent } from 'node:fs';
import { join } from 'node:path';
import { assertTaskDir, storeErrors } from '@hansard/provider';
import { isTransientSystemError, orMissing, taskFolderBelow } from '@hansard/store-kit';
import { names } from './disk-format.ts';
import type { Files } from './files.ts';

const reservedNames: ReadonlySet<string> = new Set([names.dispatches, names.task]);
const dispatchFile = /^([A-Za-z0-9_-][A-Za-z0-9._-]{0,127})\.json$/;

/**
 * The folder of a task, whether it exists or not.
 * @throws STORE_INVALID_PATH for a name that would leave the root, including through a symbolic link, or that is reserved
 */
export function resolveTaskFolder(files: Files, root: string, taskDir: string): string {
  const folder = taskFolderBelow(root, taskDir, names.dispatches, files.realPath);
  const reserved = taskDir.split('/').find((part) => reservedNames.has(part.toLowerCase()));
  if (reserved === undefined) return folder;
  throw storeErrors.error(
    'STORE_INVALID_PATH',
    `${JSON.stringify(taskDir)} can't be a task: this store reserves the name ${reserved}.`,
    { details: { taskDir } },
  );
}

/** The ids of the dispatches in a task's folder; none if the folder does not exist. */
export function listDispatchIds(files: Files, taskFolder: string): string[] {
  const found = orMissing(() => files.list(join(taskFolder, names.dispatches))) ?? [];
  return found.flatMap(({ name }) => parseDispatchFile(name) ?? []);
}

/** The id of a dispatch, by the name of its file; null for another file. */
export function parseDispatchFile(name: string): string | null {
  return dispatchFile.exec(name)?.[1] ?? null;
}

/**
 * Every folder below the root that may belong to a task, by name. A folder that can never be read is included, and so is one whose
 * `dispatches` is a link. Other links and other files are skipped.
 */
export function* walkTaskDirs(files: Files, folder: string, prefix = ''): Generator<string> {
  let entries: Dirent[];
  try {
    entries = listAgain(files, folder);
  } catch (error) {
    if (prefix === '' || isTransientSystemError(error)) throw error;
    yield prefix;
    return;
  }
  entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  if (prefix !== '' && entries.some(isOfTask)) yield prefix;
  for (const entry of entries) {
    if (!entry.isDirectory() || reservedNames.has(entry.name.toLowerCase()) || !isSegment(entry.name))
      continue;
    yield* walkTaskDirs(
      files,
      join(folder, entry.name),
      prefix === '' ? entry.name : `${prefix}/${entry.name}`,
    );
  }
}

/** A failure that has passed must not hide the tasks below a folder. */
function listAgain(files: Files, folder: string): Dirent[] {
  try {
    return orMissing(() => files.list(folder)) ?? [];
  } catch (error) {
    if (isTransientSystemError(error)) throw error;
    return orMissing(() => files.list(folder)) ?? [];
  }
}

function isOfTask(entry: Dirent): boolean {
  if (entry.name === names.dispatches) return entry.isDirectory() || entry.isSymbolicLink();
  return entry.name === names.task && entry.isFile();
}

function isSegment(name: string): boolean {
  try {
    assertTaskDir(name);
    return true;
  } catch (error) {
    if (storeErrors.is(error)) return false;
    throw error;
  }
}
