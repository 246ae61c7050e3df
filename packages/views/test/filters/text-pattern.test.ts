import { describe, expect, it } from 'vitest';
import { parseTextPattern, type TextPattern } from '../../src/index.ts';

async function pattern(source: string): Promise<TextPattern> {
  const parsed = await parseTextPattern(source);
  if ('problem' in parsed) throw new Error(parsed.problem);
  return parsed.pattern;
}

describe('a text pattern', () => {
  it.each([
    ['Route', 'the ROUTES are', true],
    ['a.c', 'abc', false],
    ['/usr/bin', 'in /usr/bin/env', true],
    ['/a.c/', 'abc', true],
    ['/a.c/', 'ABC', false],
    ['/a.c/i', 'ABC', true],
    ['/^b$/', 'a\nb', false],
    ['/^b$/m', 'a\nb', true],
    ['/a.b/', 'a\nb', false],
    ['/a.b/s', 'a\nb', true],
  ])('%s in %j: %s', async (source, text, isThere) => {
    expect((await pattern(source)).matches(text)).toBe(isThere);
  });

  it.each(['', '/(/', '/a(?=b)/', '/(a)\\1/', '/((a{1000}){1000}){1000}/', 'x'.repeat(1_001)])(
    'refuses %j and says why',
    async (source) => {
      expect(await parseTextPattern(source)).toEqual({ problem: expect.stringMatching(/\w{2}/) });
    },
  );

  it('needs time in proportion to the text, including for an expression that makes backtracking exponential', async () => {
    const hostile = await pattern('/^(a+)+$/');
    const text = `${'a'.repeat(100_000)}b`;
    const started = process.cpuUsage();
    expect(hostile.matches(text)).toBe(false);
    const { user } = process.cpuUsage(started);
    expect(user / 1_000).toBeLessThan(5_000);
  });
});
