import { writeFileSync } from 'node:fs';
import { storeErrors } from '@hansard/provider';
import { describe, expect, it } from 'vitest';
import { openJsonFileStore } from '../../src/index.ts';
import { makeRoot } from '../sample.ts';
import { checkFlip, isRefused, readDamaged, sampleEvent, taskDir, writeSample } from './damage-battery.ts';

const open = (root: string) => openJsonFileStore({ root });
const bits = [0x01, 0x20, 0x80];

/** Every offset of a share of the file (one of `of`), but only some of the padding. */
function offsetsOf(bytes: Buffer, share: number, of: number): number[] {
  const isPadding = (at: number) => bytes[at] === 0x20 && bytes[at - 1] === 0x20;
  return [...bytes.keys()].filter((at) => (isPadding(at) ? at % 97 === 0 : at % of === share));
}

describe.each([
  ['that was released', true],
  ['whose writer was killed', false],
])('a flipped bit at every second byte of a dispatch %s', (_, isReleased) => {
  it('is refused with its place, or everything that is read is equal', () => {
    const sample = writeSample(open, makeRoot(), 4, isReleased);
    const root = makeRoot();
    let refused = 0;
    for (const at of offsetsOf(sample.bytes, isReleased ? 0 : 1, 2))
      refused += checkFlip(open, sample, root, at, bits[at % bits.length] ?? 1).refused;
    expect(refused).toBeGreaterThan(250);
  });
});

describe('a flipped bit', () => {
  it('is found by verifyDispatch at every third byte, with the number of lost events', () => {
    const sample = writeSample(open, makeRoot(), 4, true);
    const root = makeRoot();
    const start = sample.bytes.indexOf('"events":[') + '"events":['.length;
    for (const at of offsetsOf(sample.bytes, 0, 3)) {
      const damaged = Buffer.from(sample.bytes);
      damaged[at] = (damaged[at] ?? 0) ^ (bits[at % bits.length] ?? 1);
      readDamaged(open, sample, root, damaged);
      const store = open(root);
      const { damages, wholeEvents, integrity } = store.verifyDispatch(taskDir, 'd1');
      store.close();
      expect(integrity).toBe('checksum');
      // Damage of the closing brackets alone is a torn tail, which the next claim repairs.
      if (at >= sample.bytes.lastIndexOf('\n]')) expect(wholeEvents, `byte ${at}`).toBe(4);
      else {
        expect(damages, `byte ${at}`).toHaveLength(1);
        const [{ offset = -1, bytes = 0, lostEvents = -1, eventsBefore = -1 } = {}] = damages;
        expect(offset, `byte ${at}`).toBeLessThanOrEqual(at);
        expect(offset + bytes, `byte ${at}`).toBeGreaterThan(at);
        expect(wholeEvents, `byte ${at}`).toBe(4 - (lostEvents ?? 0));
        if (at < start) expect([lostEvents, eventsBefore]).toEqual([0, 0]);
      }
    }
  });

  it('in a dispatch of thousands of events is refused with its place and the number of whole events before it', () => {
    const seed = Math.floor(Math.random() * 2 ** 31);
    let state = seed;
    const random = (below: number) => {
      state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
      return Math.floor((state / 0x80000000) * below);
    };
    const sample = writeSample(open, makeRoot(), 4_000, true);
    const root = makeRoot();
    const first = sample.bytes.indexOf('"events":[') + '"events":[\n'.length;
    const last = sample.bytes.lastIndexOf('\n]');
    for (let round = 0; round < 60; round += 1) {
      const at = first + random(last - first);
      const damaged = Buffer.from(sample.bytes);
      damaged[at] = (damaged[at] ?? 0) ^ (1 << random(8));
      const name = `seed ${seed}, round ${round}, byte ${at}`;
      const [all, ...others] = readDamaged(open, sample, root, damaged);
      for (const outcome of others) expect(outcome.isEqual || isRefused(outcome), name).toBe(true);
      if (!storeErrors.is(all?.error, 'STORE_CORRUPT')) throw new Error(`${name}: ${all?.error}`);
      const before = sample.bytes.subarray(first, at).toString('latin1').split('\n').length - 1;
      const lineStart = sample.bytes.lastIndexOf('\n', at - 1) + 1;
      const { offset, wholeEvents } = all.error.details;
      expect(offset, name).toBeLessThanOrEqual(at);
      expect([lineStart, sample.bytes.lastIndexOf('\n', lineStart - 2) + 1], name).toContain(offset);
      expect(Math.abs(Number(wholeEvents) - before), name).toBeLessThanOrEqual(1);
      expect(all.error.message, name).toMatch(
        wholeEvents === 0 ? /no whole event/ : /events? before it (is|are) whole/,
      );
    }
  });

  it('in each event loses only that event to skipDamaged and to acceptLoss', () => {
    for (let lost = 0; lost < 8; lost += 1) {
      const root = makeRoot();
      const { file, bytes, events } = writeSample(open, root, 8, true);
      const at = bytes.indexOf(events[lost]?.id ?? '') + 3;
      const damaged = Buffer.from(bytes);
      damaged[at] = (damaged[at] ?? 0) ^ 0x01;
      writeFileSync(file, damaged);
      const store = open(root);
      const rest = events.toSpliced(lost, 1);
      const skipDamaged = true;
      expect(store.readEvents(taskDir, 'd1', { skipDamaged })).toEqual({ events: rest, first: 0, next: 6 });
      expect(store.readEvents(taskDir, 'd1', { skipDamaged, after: 2, limit: 3 }).events).toEqual(
        rest.slice(3, 6),
      );
      expect(store.readEvents(taskDir, 'd1', { skipDamaged, last: 2 })).toEqual({
        events: rest.slice(-2),
        first: 5,
        next: 6,
      });
      const notice = sampleEvent(99);
      const found = store.acceptLoss(taskDir, 'd1', notice);
      expect(found).toMatchObject({ wholeEvents: 7, damages: [{ lostEvents: 1, eventsBefore: lost }] });
      expect(store.getDispatchEvents(taskDir, 'd1')).toEqual([...rest, notice]);
      expect(store.verifyDispatch(taskDir, 'd1')).toMatchObject({ wholeEvents: 8, damages: [] });
      store.claimDispatch(taskDir, 'd1');
      store.appendEvent(taskDir, 'd1', sampleEvent(100));
      store.close();
    }
  });
});
