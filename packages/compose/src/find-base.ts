import { existsSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { harnessErrors } from './harness-errors.ts';

export const configFileName = 'hansard.config.json';
/** The folder of the default store. */
const storeFolder = '.projects';

/** The folder whose configuration and log a command uses. */
export interface Base {
  readonly folder: string;
  /** `option`: named. `search`: the first one with a configuration or a log, from the current folder up. `none`: no folder has one. */
  readonly from: 'option' | 'search' | 'none';
}

/**
 * Finds the folder that a command works in: the named one, or the current folder or the first one above it that has `hansard.config.json`
 * or `.projects`; the current folder if none has. A folder above the current one must belong to the user, because
 * its configuration names code to load.
 * @throws HARNESS_FOLDER_MISSING, HARNESS_FOLDER_FOREIGN
 */
export function findBase(cwd: string, named: string | undefined): Base {
  if (named !== undefined) return { folder: namedFolder(cwd, named), from: 'option' };
  for (let folder = resolve(cwd); ; folder = dirname(folder)) {
    const found = [configFileName, storeFolder]
      .map((name) => join(folder, name))
      .find((path) => existsSync(path));
    if (found !== undefined) {
      if (folder !== resolve(cwd)) assertOwn(found);
      return { folder, from: 'search' };
    }
    if (dirname(folder) === folder) return { folder: resolve(cwd), from: 'none' };
  }
}

/** The folder that holds `.projects` can be named by `.projects` itself. */
function namedFolder(cwd: string, named: string): string {
  const path = resolve(cwd, named);
  const folder = basename(path) === storeFolder ? dirname(path) : path;
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return folder;
  throw harnessErrors.error('HARNESS_FOLDER_MISSING', `There is no folder ${folder}.`);
}

/** On Windows there is no user id to compare. */
function assertOwn(path: string): void {
  const own = process.getuid?.();
  const { uid } = statSync(path);
  if (own === undefined || uid === own || uid === 0) return;
  throw harnessErrors.error('HARNESS_FOLDER_FOREIGN', `${path} belongs to another user, so it is not used.`, {
    advice: `If you trust it, name its folder: --root ${dirname(path)}`,
  });
}
