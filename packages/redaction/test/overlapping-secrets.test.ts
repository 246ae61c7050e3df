import { randomFrom } from '@hansard/testing';
import { describe, expect, it } from 'vitest';
import { createRedactor } from '../src/index.ts';
import { distinctSecrets, replaceSecrets, type SecretRange } from '../src/search/secret-search.ts';

const seed = Number(process.env.SEED ?? 5);
const random = randomFrom(seed);
const below = (end: number) => Math.floor(random() * end);
const token = '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';

describe('secrets that overlap', () => {
  it(`are replaced together, and nothing else (seed ${seed})`, () => {
    for (let round = 0; round < 3_000; round += 1) {
      const length = below(60);
      // Each character is unique, so that the rest can be compared.
      const text = Array.from({ length }, (_, at) => String.fromCharCode(0x4e00 + at)).join('');
      const ranges: SecretRange[] = Array.from({ length: below(6) }, (_, index) => {
        const start = below(length + 1);
        return { start, end: Math.min(length, start + below(12)), kind: `k${index}` };
      });
      const distinct = distinctSecrets(text, ranges);
      const replaced = replaceSecrets(text, distinct, () => '#');
      const isSecret = [...text].map((_, at) => ranges.some(({ start, end }) => start <= at && at < end));
      const expected = [...text].filter((_, at) => !isSecret[at]).join('');
      expect(replaced.replaceAll('#', '')).toBe(expected);
      for (const [index, one] of distinct.entries()) {
        expect(one.start).toBeGreaterThanOrEqual(distinct[index - 1]?.end ?? 0);
        const within = ranges.filter(({ start, end }) => one.start <= start && end <= one.end);
        const longest = Math.max(...within.map(({ start, end }) => end - start));
        expect(within.find(({ kind }) => kind === one.kind)).toMatchObject({});
        expect(within.some(({ start, end, kind }) => kind === one.kind && end - start === longest)).toBe(
          true,
        );
      }
    }
  });

  const environment = ['A', 'B', 'PART'];
  const env = { A: 'abcd1234WXYZ', B: 'WXYZ5678', PART: 'oRi4A9sp' };

  it.each([
    ['a pattern in a token', token, '[REDACTED:github-token]'],
    ['two environment values', 'x abcd1234WXYZ5678 y', 'x [REDACTED:env-A] y'],
    ['a pattern in a value', 'x abcd1234WXYZ y', 'x [REDACTED:env-A] y'],
    [
      'a value at the beginning of a password',
      'db://u:WXYZ5678-and-more-q9@h',
      'db://u:[REDACTED:url-password]@h',
    ],
    ['a value that overlaps itself', 'abababab1abababab1abababab', '[REDACTED:env-SELF]'],
  ])('%s', (_, given, expected) => {
    const redactor = createRedactor({
      environment: [...environment, 'SELF'],
      env: { ...env, SELF: 'abababab1abababab' },
      patterns: { digits: '[0-9]{4}', pair: 'cd12' },
    });
    expect(redactor.text(given).text).toBe(expected);
    expect(redactor.text(expected)).toEqual({ text: expected, counts: {} });
  });

  it('can begin before a marker, which they then replace', () => {
    const { text } = createRedactor();
    const given = 'db://u:[REDACTED:env-A]rest-of-it-9@h';
    expect(text(given).text).toBe('db://u:[REDACTED:url-password]@h');
    expect(text('db://u:[REDACTED:env-A]@h').counts).toEqual({});
  });

  it('are not hidden by what only looks like a marker', () => {
    const { text } = createRedactor({ patterns: { acme: 'acme_[0-9a-f]{8}' } });
    expect(text('[REDACTED:acme_deadbeef]').counts).toEqual({ acme: 1 });
  });
});

it('counts the kind `constructor`', () => {
  const { text, find, event } = createRedactor({ patterns: { constructor: 'acme_[0-9]{4}' } });
  expect(text('acme_1234').counts).toEqual({ constructor: 1 });
  expect(find({ a: 'acme_1234' })).toEqual([{ field: '/a', kind: 'constructor', count: 1 }]);
  const once = event({ data: { a: 'acme_1234' } });
  expect(event({ data: { ...once.data, b: 'acme_1234' } }).data).toMatchObject({
    redactions: { constructor: 2 },
  });
});

it('finds a value in JSON texts in JSON texts', () => {
  const { text } = createRedactor({ environment: ['A'], env: { A: 'pa"ss\\word1' } });
  let given = 'pa"ss\\word1';
  for (let level = 0; level < 4; level += 1) {
    expect(text(given).counts, given).toEqual({ 'env-A': 1 });
    given = JSON.stringify(given);
  }
});

it('replaces a secret of one character, such as NUL', () => {
  const { event } = createRedactor({ patterns: { pin: 'PIN (?P<secret>.)' } });
  expect(event({ data: { a: 'PIN \0' } }).data).toMatchObject({ a: 'PIN [REDACTED:pin]' });
});

it('finds a match that the end of a window cut', () => {
  const { text } = createRedactor({ patterns: { acme: 'key=[^;]+;|[0-9]{6}' } });
  for (let at = 16_300; at < 16_420; at += 1) {
    const before = ' '.repeat(at);
    const { text: redacted } = text(`${before}key=topsecret 123456 moresecret; end${' '.repeat(5_000)}`);
    expect(redacted.trim(), String(at)).toBe('[REDACTED:acme] end');
  }
});
