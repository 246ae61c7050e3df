import { statSync } from 'node:fs';
import { isAbsolute, join, relative, sep } from 'node:path';

/** Whether a path is the folder itself or below it. Both are absolute, with links followed. */
export function isInside(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

/** Whether an error of the file system means that the file or folder does not exist. */
export function isAbsent(error: unknown): boolean {
  const code = (error as NodeJS.ErrnoException | undefined)?.code;
  return code === 'ENOENT' || code === 'ENOTDIR';
}

/** Whether a folder has a `plugin.json`, readable or not. */
export function hasManifest(folder: string): boolean {
  try {
    statSync(join(folder, 'plugin.json'));
    return true;
  } catch (error) {
    return !isAbsent(error);
  }
}
