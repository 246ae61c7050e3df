import { expect, it } from 'vitest';
import { RecentMap } from '../../src/map/horizon.ts';

it('keeps the latest entries, and never more than twice as many', () => {
  const map = new RecentMap<number>(10);
  for (let at = 0; at < 1_000; at += 1) {
    map.set(`k${at}`, at);
    map.set(`k${at}`, at);
    const there = Array.from({ length: at + 1 }, (_, key) => key).filter((key) => map.has(`k${key}`));
    expect(there.slice(-10)).toEqual(
      Array.from({ length: Math.min(10, at + 1) }, (_, back) => at - Math.min(9, at) + back),
    );
    expect(there.length).toBeLessThanOrEqual(20);
    for (const key of there) expect(map.get(`k${key}`)).toBe(key);
  }
});

it('returns the latest value', () => {
  const map = new RecentMap<number>(2);
  for (const [key, value] of [
    ['a', 1],
    ['b', 2],
    ['c', 3],
    ['a', 4],
  ] as const)
    map.set(key, value);
  expect([map.get('a'), map.get('b'), map.get('c'), map.get('d')]).toEqual([4, 2, 3, undefined]);
});
