import { describe, expect, it } from 'vitest';
import { toTimestamp } from '../src/index.ts';

describe('a time as text', () => {
  it('is equal to that of a Date, independent of earlier calls', () => {
    const days = [0, 1, 19_000, 20_513, -1, -719_528, 2_932_896, 100_000_000, -100_000_000];
    const inDay = [0, 1, 999, 59_999, 3_599_999, 36_000_001, 86_399_999];
    for (const day of days) {
      for (const rest of inDay) {
        const time = day * 86_400_000 + (Math.abs(day) === 100_000_000 ? 0 : rest);
        expect(toTimestamp(time)).toBe(new Date(time).toISOString());
        expect(toTimestamp(time + (time < 0 ? -0.5 : 0.5))).toBe(new Date(time).toISOString());
      }
    }
  });

  it.each([Number.NaN, Number.POSITIVE_INFINITY, 8.64e15 + 1, -8.64e15 - 1])('is refused for %d', (time) => {
    expect(() => toTimestamp(time)).toThrow(RangeError);
  });
});
