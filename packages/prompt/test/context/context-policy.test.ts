import { describe, expect, it } from 'vitest';
import { parseContextPolicy } from '../../src/index.ts';

describe('the short form of a policy', () => {
  it('gives the policy that it names', () => {
    expect(parseContextPolicy('full')).toEqual({ name: 'full' });
    expect(parseContextPolicy('last:20')).toEqual({ name: 'lastMessages', count: 20 });
    expect(parseContextPolicy('faded:24000')).toEqual({ name: 'faded', budget: 24_000 });
    expect(parseContextPolicy('faded:24000:4096')).toEqual({ name: 'faded', budget: 24_000, reserve: 4_096 });
  });

  it('is refused if it is not a policy', () => {
    for (const text of [
      '',
      'all',
      'full:1',
      'last',
      'last:0',
      'last:-1',
      'last:x',
      'last:1:2',
      'faded',
      'faded:1:2:3',
      'faded:1e3',
    ])
      expect(() => parseContextPolicy(text), text).toThrow(TypeError);
  });
});
