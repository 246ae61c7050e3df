import { describe, expect, it } from 'vitest';
import { findSlower } from '../compare-benchmarks.ts';

const run = (microseconds: number, perSecond = 100) => [
  { benchmark: 'append', contender: 'a store', events: 1_000, microseconds, ofReadyLine: microseconds / 2 },
  { benchmark: 'exports', format: 'chat', events: 10, eventsPerSecond: perSecond },
];

describe('the comparison of benchmarks with an older commit', () => {
  it('names a time that grew and a rate that fell', () => {
    const slower = findSlower([run(2), run(2), run(2)], [run(3, 50), run(3, 50), run(3, 50)], 1.1);
    expect(slower).toEqual([
      { what: 'append a store 1000', figure: 'microseconds', before: 2, now: 3, ratio: 1.5 },
      { what: 'exports chat 10', figure: 'eventsPerSecond', before: 100, now: 50, ratio: 2 },
    ]);
  });

  it('names nothing that stayed, became faster or is new', () => {
    expect(findSlower([run(2, 100)], [run(2.1, 100)], 1.1)).toEqual([]);
    expect(findSlower([run(2, 100)], [run(1, 200)], 1.1)).toEqual([]);
    expect(findSlower([[]], [run(2, 100)], 1.1)).toEqual([]);
  });

  it('compares within each pair, so a load that lasts for some pairs does not count', () => {
    expect(findSlower([run(2), run(8), run(8)], [run(2), run(8), run(8)], 1.1)).toEqual([]);
    expect(findSlower([run(2), run(2), run(8)], [run(2), run(8), run(8)], 1.1)).toEqual([]);
  });
});
