import { dirname } from 'node:path';
import { isGameLogByItself } from './import-formats.ts';

/**
 * The game logs that some files make up: those that were named together are one; otherwise the files of a folder are,
 * but for each that has both what happens and what is said.
 */
export function groupGameLogs(files: readonly string[], namedTogether: ReadonlySet<string>): string[][] {
  const named = files.filter((file) => namedTogether.has(file));
  const logs: string[][] = named.length === 0 ? [] : [named];
  const ofFolders = new Map<string, string[]>();
  for (const file of files) {
    if (namedTogether.has(file)) continue;
    const folder = dirname(file);
    const isByItself = isGameLogByItself(file);
    const parts = isByItself ? undefined : ofFolders.get(folder);
    if (parts !== undefined) parts.push(file);
    else {
      const log = [file];
      logs.push(log);
      if (!isByItself) ofFolders.set(folder, log);
    }
  }
  return logs;
}
