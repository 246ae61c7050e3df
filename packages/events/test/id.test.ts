import { describe, expect, it } from 'vitest';
import { createIdSource } from '../src/index.ts';

describe('createIdSource', () => {
  it('mints ULIDs that only grow within a millisecond and when the clock goes back', () => {
    const times = [5_000, 5_000, 5_000, 4_000, 1, 6_000];
    const mint = createIdSource({ now: () => times.shift() ?? 6_000 });
    const ids = Array.from({ length: 2_000 }, mint);
    expect(ids).toEqual([...ids].sort());
    expect(new Set(ids).size).toBe(ids.length);
    for (const id of ids) expect(id).toMatch(/^[0-9A-HJKMNP-TV-Z]{26}$/);
  });

  it('holds the time in its first ten characters', () => {
    const mint = createIdSource({ now: () => 1_772_357_400_000 });
    const first = mint().slice(0, 10);
    expect([...first].reduce((sum, c) => sum * 32 + '0123456789ABCDEFGHJKMNPQRSTVWXYZ'.indexOf(c), 0)).toBe(
      1_772_357_400_000,
    );
  });

  it('gives two sources different ids in the same millisecond', () => {
    const now = () => 7;
    expect(createIdSource({ now })()).not.toBe(createIdSource({ now })());
  });
});
