import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** Every file below a root but the dispatches, the records of tasks, the listings, and the locks of dispatches that exist. */
export function censusOf(root: string): string[] {
  if (!existsSync(root)) return [];
  return readdirSync(root, { recursive: true, withFileTypes: true }).flatMap((entry) => {
    if (entry.isDirectory()) return [];
    const path = join(entry.parentPath, entry.name);
    if (entry.name === 'task.json' || entry.name === '.listing') return [];
    if (entry.parentPath.endsWith('/dispatches') && /^[\w-][\w.-]*\.json$/.test(entry.name)) return [];
    const [, locked] = /^(.+)\.lock\.\d+$/.exec(entry.name) ?? [];
    if (locked !== undefined && existsSync(join(entry.parentPath, `${locked}.json`))) return [];
    // A heartbeat with the name of such a lock, too.
    return entry.parentPath.endsWith('/.writers') && statSync(path).nlink > 1 ? [] : [path];
  });
}
