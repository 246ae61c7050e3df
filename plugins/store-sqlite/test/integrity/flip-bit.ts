import { rmSync, writeFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { type StoreError, storeErrors, type TaskListing } from '@hansard/provider';
import { expect } from 'vitest';
import { openSqliteStore } from '../../src/index.ts';
import { expectedReads, readGolden } from '../golden/read-golden.ts';

/** Reads everything of a database: the errors of the contract that refused something, and the number of equal reads. */
export function readAll(path: string): { readonly refusals: readonly StoreError[]; readonly equal: number } {
  const refusals: StoreError[] = [];
  let equal = 0;
  const attempt = (work: () => void) => {
    try {
      work();
    } catch (error) {
      if (!storeErrors.is(error)) throw error;
      refusals.push(error);
    }
  };
  attempt(() => {
    const store = openSqliteStore({ path });
    for (const [name, read] of readGolden(store))
      attempt(() => {
        const found = read();
        const failed =
          name === 'tasks' ? (found as TaskListing[]).find(({ error }) => error)?.error : undefined;
        if (failed !== undefined) refusals.push(failed);
        else if (isDeepStrictEqual(found, expectedReads().get(name))) equal += 1;
        else expect.unreachable(`${name} is ${JSON.stringify(found)}`);
      });
    store.close();
  });
  return { refusals, equal };
}

/** Flips a bit of a golden database, and reads everything: refused with its place, or equal. @returns the number of reads of each kind */
export function checkFlippedBit(
  whole: Buffer,
  bit: number,
  path: string,
): { readonly refused: number; readonly equal: number } {
  const bytes = Buffer.from(whole);
  bytes[bit >> 3] = (whole[bit >> 3] ?? 0) ^ (1 << (bit & 7));
  for (const suffix of ['-wal', '-shm', '-lengths']) rmSync(`${path}${suffix}`, { force: true });
  writeFileSync(path, bytes);
  let refusals: readonly StoreError[] = [];
  let equal = 0;
  try {
    ({ refusals, equal } = readAll(path));
  } catch (error) {
    expect.unreachable(`bit ${bit & 7} of byte ${bit >> 3}: ${error instanceof Error ? error.stack : error}`);
  }
  for (const { code, details } of refusals) {
    // A changed bit of a name reads as a log under another name.
    expect(['STORE_CORRUPT', 'STORE_UNAVAILABLE', 'STORE_MISPLACED'], `byte ${bit >> 3}`).toContain(code);
    expect(details.file).toContain(path);
  }
  // A database that cannot be opened refuses all reads at once.
  return { refused: refusals.length, equal };
}
