import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type StoreError, storeErrors } from '@hansard/provider';
import { envelope, taskDir, textEvent } from '@hansard/testing/store-samples';
import { expect, it } from 'vitest';
import { openSqliteStore } from '../../src/index.ts';
import { goldenDispatches } from '../golden/golden-content.ts';
import { goldenBytes, putGolden } from '../golden/read-golden.ts';
import { temporaryPath } from '../temporary-store.ts';
import { randomFrom } from './damage-rows.ts';
import { checkFlippedBit, readAll } from './flip-bit.ts';

const seed = Number(process.env.HANSARD_SEED ?? Math.floor(Math.random() * 2 ** 31));
/** The number of bits that are tried; `all` tries each. */
const wanted = process.env.HANSARD_FLIPPED_BITS ?? '250';

/** Bits that once passed unnoticed. In byte 20425, one hid a dispatch from a search of the index, but not from its list. */
const knownBits = [20_425 * 8];

it(`a bit of the file of lengths that flips changes nothing that is read (seed ${seed})`, () => {
  const path = temporaryPath();
  putGolden(path);
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
    expect(readAll(path).refusals, `bit ${bit & 7} of byte ${bit >> 3}`).toEqual([]);
  }
});

it(`a bit of a database that flips is refused with its place, or everything read is equal (seed ${seed})`, () => {
  const whole = goldenBytes();
  const random = randomFrom(seed);
  const path = temporaryPath();
  const bits = whole.length * 8;
  const count = wanted === 'all' ? bits : Number(wanted);
  let refused = 0;
  for (let index = 0; index < count; index += 1) {
    const bit = knownBits[index] ?? (wanted === 'all' ? index : Math.floor(random() * bits));
    if (checkFlippedBit(whole, bit, path).refused > 0) refused += 1;
  }
  expect(refused).toBeGreaterThan(count / 50);
});

it('a bit before the task of a dispatch that flips is refused by a listing of all tasks with an error of the contract, or changes nothing', () => {
  const path = temporaryPath();
  const writer = openSqliteStore({ path });
  writer.createDispatch(taskDir, envelope({ dispatchId: 'D' }));
  writer.updateDispatch(taskDir, 'D', { status: 'completed' });
  writer.close();
  const whole = readFileSync(path);
  let refused = 0;
  for (let found = whole.indexOf(taskDir); found >= 0; found = whole.indexOf(taskDir, found + 1))
    for (let bit = (found - 20) * 8; bit < found * 8; bit += 1) {
      const bytes = Buffer.from(whole);
      bytes[bit >> 3] = (whole[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      for (const suffix of ['-wal', '-shm', '-lengths']) rmSync(`${path}${suffix}`, { force: true });
      writeFileSync(path, bytes);
      try {
        const store = openSqliteStore({ path });
        const { dispatches } = store.listDispatches({ order: 'newest', limit: 1 });
        if (dispatches.some(({ error }) => error !== undefined)) refused += 1;
        store.close();
      } catch (error) {
        if (!storeErrors.is(error)) throw error;
        refused += 1;
      }
    }
  expect(refused).toBeGreaterThan(10);
});

it('a bit of the head of an event that flips is refused with the place and the number of whole events that verifyDispatch gives', () => {
  const path = temporaryPath();
  const writer = openSqliteStore({ path });
  const events = Array.from({ length: 6 }, (_, index) => textEvent(`E${index}`, `text of ${index}`));
  writer.createDispatch(taskDir, envelope({ dispatchId: 'D' }));
  writer.appendEvents(taskDir, 'D', events);
  writer.updateDispatch(taskDir, 'D', { status: 'completed' });
  writer.close();
  const whole = readFileSync(path);
  const lengths = readFileSync(`${path}-lengths`);
  let moved = 0;
  for (const id of ['E0', 'E3', 'E5']) {
    const line = whole.indexOf(`{"id":"${id}"`);
    expect(line).toBeGreaterThan(0);
    for (let bit = (line - 16) * 8; bit < line * 8; bit += 1) {
      for (const suffix of ['-wal', '-shm']) rmSync(`${path}${suffix}`, { force: true });
      const bytes = Buffer.from(whole);
      bytes[bit >> 3] = (whole[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      writeFileSync(path, bytes);
      writeFileSync(`${path}-lengths`, lengths);
      const place = `bit ${bit & 7} of byte ${bit >> 3}`;
      const store = openSqliteStore({ path });
      const verification = unlessCorrupt(() => store.verifyDispatch(taskDir, 'D'));
      const read = unlessCorrupt(() => store.getDispatchEvents(taskDir, 'D'));
      store.close();
      if (storeErrors.is(verification)) {
        expect(storeErrors.is(read), place).toBe(true);
        continue;
      }
      const { damages, wholeEvents } = verification;
      const [first] = damages;
      expect(storeErrors.is(read) ? read.details : null, `${place}: ${JSON.stringify(damages)}`).toEqual(
        first === undefined
          ? null
          : { file: path, dispatchId: 'D', offset: first.offset, wholeEvents: first.eventsBefore },
      );
      if (first?.lostEvents !== 0) continue;
      moved += 1;
      expect(wholeEvents, place).toBe(events.length);
    }
  }
  expect(moved).toBeGreaterThanOrEqual(16);
});

function unlessCorrupt<T>(read: () => T): T | StoreError {
  try {
    return read();
  } catch (error) {
    if (storeErrors.is(error, 'STORE_CORRUPT')) return error;
    throw error;
  }
}
