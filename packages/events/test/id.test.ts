import { createIdSource, idSchema } from '@hansard/events';
import { decodeTime, incrementBase32, isValid, ulid } from 'ulid';
import { describe, expect, it } from 'vitest';

const march = Date.UTC(2026, 2, 1);

describe('minted ids', () => {
  it('are ULIDs of their time', () => {
    const id = createIdSource({ now: () => march })();
    expect(isValid(id)).toBe(true);
    expect(decodeTime(id)).toBe(march);
    expect(idSchema.safeParse(id).success).toBe(true);
  });

  it('grow within a millisecond, when the clock goes back, and when it advances', () => {
    const times = [march, march, march, march - 1_000, march - 1_000, march + 1, march + 0.5, march + 2];
    const createId = createIdSource({ now: () => times.shift() ?? march + 3 });
    const ids = Array.from({ length: 2_000 }, () => createId());
    expect(ids).toEqual(ids.toSorted());
    expect(new Set(ids).size).toBe(ids.length);
    expect(decodeTime(ids[4] ?? '')).toBe(march);
  });

  it('grow even if the random part overflows into the next millisecond', () => {
    let now = march;
    const createId = createIdSource({ now: () => now, random: () => 0.999 });
    const first = createId();
    const overflowed = createId();
    now = march + 1;
    const next = createId();
    expect(first.endsWith('Z'.repeat(16))).toBe(true);
    expect(overflowed > first && next > overflowed).toBe(true);
  });

  it('are equal to those of the ulid library, for any time and random numbers', () => {
    for (const time of [1, 31, 32, march, 2 ** 40 + 12_345, 2 ** 48 - 1])
      for (const share of [0, 0.03, 0.5, 31 / 32, 0.999_999]) {
        const createId = createIdSource({ now: () => time, random: () => share });
        const first = createId();
        expect(first).toBe(ulid(time, () => share));
        expect(createId()).toBe(incrementBase32(first));
      }
    expect(() => createIdSource({ now: () => 2 ** 48 })()).toThrow(RangeError);
  });

  it('of two sources differ', () => {
    const now = () => march;
    const ids = Array.from({ length: 200 }, () => createIdSource({ now })());
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('are the same for the same time and random numbers', () => {
    const mint = () => createIdSource({ now: () => 0, random: () => 0.5 })();
    expect(mint()).toBe(mint());
  });
});
