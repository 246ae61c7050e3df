import { existsSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { CliError, exitCode } from './terminal/cli-error.ts';

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
 * @throws CliError for a named folder that does not exist, and for a found one of another user
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
  throw new CliError(
    exitCode.usage,
    `There is no folder ${folder}.`,
    `--root and HANSARD_ROOT name the folder that has ${storeFolder} or ${configFileName}.`,
  );
}

/** On Windows there is no user id to compare. */
function assertOwn(path: string): void {
  const own = process.getuid?.();
  const { uid } = statSync(path);
  if (own === undefined || uid === own || uid === 0) return;
  throw new CliError(
    exitCode.failed,
    `${path} belongs to another user, so it is not used.`,
    `If you trust it, name its folder: --root ${dirname(path)}`,
  );
}
