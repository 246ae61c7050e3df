import { dirname } from 'node:path';
import type { LogFile } from '@hansard/provider';

/**
 * The game logs that some files make up: the files that were named together are one; otherwise the files of a folder are,
 * except each that is a log by itself because it has both the game and the chat.
 */
export function groupGameLogs(files: readonly LogFile[], isByItself: (file: LogFile) => boolean): string[][] {
  const named = files.filter(({ isNamed }) => isNamed).map(({ path }) => path);
  const logs: string[][] = named.length === 0 ? [] : [named];
  const ofFolders = new Map<string, string[]>();
  for (const file of files) {
    if (file.isNamed) continue;
    const folder = dirname(file.path);
    const isAlone = isByItself(file);
    const parts = isAlone ? undefined : ofFolders.get(folder);
    if (parts !== undefined) parts.push(file.path);
    else {
      const log = [file.path];
      logs.push(log);
      if (!isAlone) ofFolders.set(folder, log);
    }
  }
  return logs;
}
