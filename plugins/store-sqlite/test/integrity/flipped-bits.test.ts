import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { isStoreError, type StoreError, type TaskListing } from '@hansard/provider';
import { expect, it } from 'vitest';
import { openSqliteStore } from '../../src/index.ts';
import { goldenDispatches } from '../golden/golden-content.ts';
import { expectedReads, goldenBytes, putGolden, readGolden } from '../golden/read-golden.ts';
import { temporaryPath } from '../temporary-store.ts';
import { randomFrom } from './damage-rows.ts';

const seed = Number(process.env.HANSARD_SEED ?? Math.floor(Math.random() * 2 ** 31));
/** The number of bits that are tried; `all` tries each. */
const wanted = process.env.HANSARD_FLIPPED_BITS ?? '500';

/** Bits that once passed unnoticed. In byte 20425, one hid a dispatch from a search of the index, but not from its list. */
const knownBits = [20_425 * 8];

/** Reads everything of a database; the errors of the contract that refused something. */
function readAll(path: string): StoreError[] {
  const refusals: StoreError[] = [];
  const attempt = (work: () => void) => {
    try {
      work();
    } catch (error) {
      if (!isStoreError(error)) throw error;
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
        else if (!isDeepStrictEqual(found, expectedReads().get(name)))
          expect.unreachable(`${name} is ${JSON.stringify(found)}`);
      });
    store.close();
  });
  return refusals;
}

it(`a bit of the file of lengths that flips changes nothing that is read (seed ${seed})`, () => {
  const path = temporaryPath();
  putGolden(2, path);
  const writer = openSqliteStore({ path });
  for (const { taskDir, envelope } of goldenDispatches) writer.claimDispatch(taskDir, envelope.dispatchId);
  writer.close();
  const whole = readFileSync(`${path}-lengths`);
  expect(whole).toHaveLength(64 * (goldenDispatches.length + 1));
  const random = randomFrom(seed);
  for (let round = 0; round < 150; round += 1) {
    const bit = Math.floor(random() * whole.length * 8);
    const bytes = Buffer.from(whole);
    bytes[bit >> 3] = (whole[bit >> 3] ?? 0) ^ (1 << (bit & 7));
    writeFileSync(`${path}-lengths`, bytes);
    expect(readAll(path), `bit ${bit & 7} of byte ${bit >> 3}`).toEqual([]);
  }
});

it(`a bit of a database that flips is refused with its place, or everything read is equal (seed ${seed})`, () => {
  const whole = goldenBytes(2);
  const random = randomFrom(seed);
  const path = temporaryPath();
  const bits = whole.length * 8;
  const count = wanted === 'all' ? bits : Number(wanted);
  let refused = 0;
  for (let index = 0; index < count; index += 1) {
    const bit = knownBits[index] ?? (wanted === 'all' ? index : Math.floor(random() * bits));
    const bytes = Buffer.from(whole);
    bytes[bit >> 3] = (whole[bit >> 3] ?? 0) ^ (1 << (bit & 7));
    for (const suffix of ['-wal', '-shm', '-lengths']) rmSync(`${path}${suffix}`, { force: true });
    writeFileSync(path, bytes);
    let refusals: StoreError[] = [];
    try {
      refusals = readAll(path);
    } catch (error) {
      expect.unreachable(
        `bit ${bit & 7} of byte ${bit >> 3}: ${error instanceof Error ? error.stack : error}`,
      );
    }
    for (const { code, details } of refusals) {
      expect(['STORE_CORRUPT', 'STORE_UNAVAILABLE'], `byte ${bit >> 3}`).toContain(code);
      expect(details.file).toBe(path);
    }
    if (refusals.length > 0) refused += 1;
  }
  expect(refused).toBeGreaterThan(count / 50);
});
