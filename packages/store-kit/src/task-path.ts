import { realpathSync } from 'node:fs';
import { basename, dirname, join, sep } from 'node:path';
import { assertDispatchId, assertTaskDir, storeErrors } from '@hansard/provider';
import { orMissing } from './file-system.ts';

/**
 * Refuses names that would leave the root, for a method that receives both.
 * @throws STORE_INVALID_PATH
 */
export function assertDispatchPath(taskDir: string, dispatchId: string): void {
  assertTaskDir(taskDir);
  assertDispatchId(dispatchId);
}

/**
 * The folder of a task below `root`, whether it exists or not. `root` is a path that {@link realPath} returned. `inner` is the
 * folder inside it that the store will use: its symbolic links are checked, too. `resolve` is that of {@link realPath}.
 * @throws STORE_INVALID_PATH for a name that would leave the root, including through a symbolic link
 */
export function taskFolderBelow(
  root: string,
  taskDir: string,
  inner = '',
  resolve: (path: string) => string = realpathSync.native,
): string {
  assertTaskDir(taskDir);
  const folder = join(root, ...taskDir.split('/'));
  const real = realPath(join(folder, inner), resolve);
  if (real === root || real.startsWith(root.endsWith(sep) ? root : root + sep)) return folder;
  throw storeErrors.error(
    'STORE_INVALID_PATH',
    `${JSON.stringify(taskDir)} can't be a task: a symbolic link leads to ${real}, outside of ${root}.`,
    { details: { taskDir } },
  );
}

/**
 * A path without symbolic links. The last parts of the path need not exist. `resolve` asks the file system for one path; a
 * test can replace it.
 */
export function realPath(path: string, resolve: (path: string) => string = realpathSync.native): string {
  const real = orMissing(() => resolve(path));
  if (real !== null) return real;
  const parent = dirname(path);
  return parent === path ? path : join(realPath(parent, resolve), basename(path));
}
