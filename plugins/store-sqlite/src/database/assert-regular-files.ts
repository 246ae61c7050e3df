import { type Stats, statSync } from 'node:fs';
import { StoreError } from '@hansard/provider';

/** The database, and what SQLite and this store open beside it. */
const suffixes = ['', '-wal', '-shm', '-journal', '-lengths'];

/**
 * Checks that SQLite opens only regular files. It would wait for the writer of a FIFO, and nothing could end that.
 * @throws STORE_CORRUPT
 */
export function assertRegularFiles(file: string): void {
  for (const suffix of suffixes) {
    const path = `${file}${suffix}`;
    const found = statSync(path, { throwIfNoEntry: false });
    if (found === undefined || found.isFile()) continue;
    throw new StoreError(
      'STORE_CORRUPT',
      `${path} is ${kindOf(found)}, and not a regular file. Move it away. If there was a file, restore it from a copy.`,
      { details: { file: path } },
    );
  }
}

function kindOf(stats: Stats): string {
  if (stats.isDirectory()) return 'a folder';
  if (stats.isFIFO()) return 'a named pipe (FIFO)';
  return stats.isSocket() ? 'a socket' : 'a device';
}
