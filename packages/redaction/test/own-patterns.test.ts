import { randomFrom } from '@hansard/testing';
import { describe, expect, it } from 'vitest';
import { createRedactor, redactionErrors } from '../src/index.ts';

const seed = 4096;
const random = randomFrom(seed);
const pick = <Item>(items: readonly Item[]) => items[Math.floor(random() * items.length)] as Item;
const of = (length: number, letters: string) => Array.from({ length }, () => pick([...letters])).join('');

const redact = (pattern: string, text: string) =>
  createRedactor({ formats: false, patterns: { own: pattern } }).text(text);

/** A random expression that means the same in JavaScript and RE2. */
function expression(depth: number): string {
  if (depth === 0) return pick(['a', 'b', '[ab]', 'ab', 'b1', '\\d', '.', '\\ba']);
  const one = expression(depth - 1);
  return pick([
    `(?:${one})+`,
    `(?:${one})?b`,
    `${one}${expression(depth - 1)}`,
    `(?:${one}|${expression(depth - 1)})`,
    `(?:${one}){1,3}`,
    `1${one}`,
  ]);
}

describe('patterns of a user', () => {
  it(`find the same as JavaScript's regular expressions (seed ${seed})`, () => {
    let found = 0;
    for (let round = 0; round < 1_500; round += 1) {
      const source = expression(1 + Math.floor(random() * 3));
      if (new RegExp(`^(?:${source})$`).test('')) continue;
      const text = of(40, 'ab1 \n');
      const expected = text.replace(new RegExp(source, 'gu'), (match) =>
        match === '' ? '' : '[REDACTED:own]',
      );
      expect([source, text, redact(source, text).text]).toEqual([source, text, expected]);
      if (expected !== text) found += 1;
    }
    expect(found).toBeGreaterThan(500);
  });

  it.each([4_096, 12_287, 12_288, 16_383, 16_384, 16_385, 40_000])(
    'find a match of 4,096 characters, and words, around position %i of a long text',
    (around) => {
      for (const before of [around - 4_096, around - 2_048, around - 3, around - 1, around]) {
        const text = `${'x'.repeat(before)} key-${'7'.repeat(4_092)} ${'x'.repeat(20_000)}`;
        const expected = `${'x'.repeat(before)} [REDACTED:own] ${'x'.repeat(20_000)}`;
        expect(redact('\\bkey-7+', text).text === expected).toBe(true);
        expect(redact('^ key-7+', text).counts).toEqual(before === 0 ? { own: 1 } : {});
      }
    },
  );

  it('replace only the group "secret", leave markers, and can be applied again', () => {
    const redactor = createRedactor({ patterns: { acme: 'pin=(?<secret>[0-9]{4})', word: 'acme[a-z]*' } });
    const once = redactor.text('pin=1234 acmeish AKIAQ2W3E4R5T6Y7U2I3 pin=12');
    expect(once).toEqual({
      text: 'pin=[REDACTED:acme] [REDACTED:word] [REDACTED:aws-access-key] pin=12',
      counts: { acme: 1, word: 1, 'aws-access-key': 1 },
    });
    expect(redactor.text(once.text)).toEqual({ text: once.text, counts: {} });
  });

  it('replace a text as a whole that has too many matches for its length', () => {
    expect(redact('a', 'ab'.repeat(100)).counts).toEqual({ own: 100 });
    expect(redact('a', 'ab'.repeat(101))).toEqual({ text: '[REDACTED:own]', counts: { own: 1 } });
    expect(redact('a', `${'b'.repeat(999)}a`.repeat(300)).counts).toEqual({ own: 300 });
  });

  it.each([
    ['x.*y|x', 'x'],
    ['(a+)+$', 'a'],
    ['(?:\\w+\\s?)*!', 'ab '],
    ['(?:x|xx)*y', 'x'],
    ['a\\b|q.*z', 'a '],
    ['acme-[0-9a-f]{16}', 'acme-0123'],
  ])('take linear time: %s in a text of %j', { timeout: 60_000 }, (source, piece) => {
    const redactor = createRedactor({
      formats: false,
      patterns: { own: source },
    });
    const timeFor = (length: number) => {
      const text = piece.repeat(length / piece.length);
      const start = process.cpuUsage();
      redactor.text(text);
      const used = process.cpuUsage(start);
      return (used.user + used.system) / 1_000;
    };
    expect(timeFor(600_000)).toBeLessThan(15 * timeFor(120_000) + 500);
  });

  it.each([
    ['own', '(secret-word', 'is not a regular expression of RE2'],
    ['own', '(?=secret-word)', 'is not a regular expression of RE2'],
    ['own', 'secret-word{2000}', 'is not a regular expression of RE2'],
    ['own', '(?:secret-word){1,200}', 'is too large'],
    ['own', '(?:secret-word)?', 'matches an empty text'],
    ['own', 'secret-word'.repeat(100), 'at most 1000 characters'],
    ['My Own', 'secret-word', 'has a name other than'],
  ])('are refused, and not quoted, if they are wrong: %s %s', (name, source, reason) => {
    try {
      createRedactor({ patterns: { [name]: source } });
      expect.unreachable();
    } catch (error) {
      if (!redactionErrors.is(error, 'REDACTION_PATTERN_INVALID')) throw error;
      expect(error.message).toContain(reason);
      expect(JSON.stringify([error.message, error.details, error.cause])).not.toContain('secret-word');
    }
  });
});
