import { describe, expect, it } from 'vitest';
import { pageRange } from '../src/index.ts';

describe('pageRange', () => {
  it.each([
    [0, {}, 0, 0],
    [3, {}, 0, 3],
    [2_000, {}, 0, 1_000],
    [10, { after: 3, limit: 2 }, 4, 6],
    [10, { after: 8, limit: 5 }, 9, 10],
    [10, { after: 9 }, 10, 10],
    [10, { last: 3 }, 7, 10],
    [10, { last: 0 }, 10, 10],
    [10, { last: 99 }, 0, 10],
  ])('of %i events and the options %j is from %i to before %i', (count, options, first, end) => {
    expect(pageRange(count, options)).toEqual({ first, end });
  });

  it('refuses a position that does not exist', () => {
    expect(() => pageRange(10, { after: 10 })).toThrow(
      expect.objectContaining({ code: 'STORE_INVALID_CURSOR', details: { after: 10, count: 10 } }),
    );
  });
});
