import { lstatSync, realpathSync, type Stats, statSync } from 'node:fs';
import { isAbsolute, relative } from 'node:path';

/** What a path below a folder leads to, after links are resolved. */
export type OwnPath =
  | { readonly kind: 'own'; readonly stats: Stats }
  /** A link to a place outside of the folder. */
  | { readonly kind: 'outside'; readonly target: string; readonly stats: Stats }
  /** Nothing can be examined, as for a link in a circle. */
  | { readonly kind: 'unreadable' }
  | { readonly kind: 'absent' };

/** Resolves the links of a path, and checks whether it leads out of a folder. The links of the folder itself do not count. */
export function resolveOwn(path: string, folder: string): OwnPath {
  try {
    const target = realpathSync(path);
    const stats = statSync(target);
    return isBelow(target, realpathSync(folder))
      ? { kind: 'own', stats }
      : { kind: 'outside', target, stats };
  } catch {
    return isThere(path) ? { kind: 'unreadable' } : { kind: 'absent' };
  }
}

function isBelow(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way !== '..' && !/^\.\.[\\/]/.test(way) && !isAbsolute(way);
}

function isThere(path: string): boolean {
  try {
    lstatSync(path);
    return true;
  } catch {
    return false;
  }
}
