import { randomFrom } from '@hansard/testing';
import { describe, expect, it } from 'vitest';
import { neutraliseControls, neutraliseControlsInLine } from '../src/plain.ts';

describe('neutraliseControls', () => {
  it.each([
    ['a colour', '\x1b[31mred\x1b[0m', '␛[31mred␛[0m'],
    ['a window title', '\x1b]0;owned\x07', '␛]0;owned␇'],
    ['a C1 control sequence', '\x9b2J', '<U+009B>2J'],
    ['a backspace', 'rm\b\bls', 'rm␈␈ls'],
    ['a carriage return', 'safe\rrm -rf', 'safe␍rm -rf'],
    ['a NUL and a DEL', '\x00\x7f', '␀␡'],
    ['a bidi override', 'a\u202eb\u202c', 'a<U+202E>b<U+202C>'],
    ['a bidi isolate', '\u2066x\u2069', '<U+2066>x<U+2069>'],
    ['a zero-width space', 'pay\u200bpal', 'pay<U+200B>pal'],
    ['a joiner between letters', 'ab\u200dcd', 'ab<U+200D>cd'],
    ['a byte order mark', '\ufeffx', '<U+FEFF>x'],
    ['tag characters', '\u{e0041}\u{e0042}', '<U+E0041><U+E0042>'],
    ['a line separator', 'a\u2028b', 'a<U+2028>b'],
    ['a lone surrogate', '\ud800', '<U+D800>'],
    ['repeated style marks', '❤\ufe0f\ufe0f', '❤\ufe0f<U+FE0F>'],
  ])('makes %s visible and harmless', (_, text, shown) => {
    expect(neutraliseControls(text)).toBe(shown);
  });

  it.each([
    ['newlines and tabs', 'a\n\tb'],
    ['letters of any script', 'Grüße 你好 العربية हिन्दी'],
    ['emoji made of several parts', '👩‍💻 👨‍👩‍👧 🏳️‍🌈 👍🏽 1️⃣ 🇨🇭'],
    ['joiners that Persian and Hindi need', 'می\u200cخواهم क्\u200dष'],
  ])('leaves %s as they are', (_, text) => {
    expect(neutraliseControls(text)).toBe(text);
  });

  it('keeps the line ends of Windows as line ends', () => {
    expect(neutraliseControls('a\r\nb')).toBe('a\nb');
  });

  it('puts everything on one line with neutraliseControlsInLine', () => {
    expect(neutraliseControlsInLine('a\r\nb\n\tc\x1b')).toBe('a⏎b⏎ c␛');
  });

  it('leaves no control character in any text, and does not change its own result', () => {
    const random = randomFrom(20_260_301);
    const obeyed = /[\p{Cc}\u202a-\u202e\u2066-\u2069\u200b\ufeff\u2028\u2029\u{e0000}-\u{e007f}]/u;
    for (let round = 0; round < 2_000; round += 1) {
      const text = randomText(random);
      const shown = neutraliseControls(text);
      const line = neutraliseControlsInLine(text);
      const hint = `text ${JSON.stringify(text)}`;
      expect(obeyed.test(shown.replaceAll(/[\n\t]/g, '')), hint).toBe(false);
      expect(obeyed.test(line), hint).toBe(false);
      expect(/\p{Cs}/u.test(shown), hint).toBe(false);
      expect(neutraliseControls(shown), hint).toBe(shown);
    }
  });
});

function randomText(random: () => number): string {
  const ranges = [
    [0x00, 0x20],
    [0x20, 0x7f],
    [0x7f, 0xa0],
    [0x200b, 0x2070],
    [0xd800, 0xe000],
    [0xfe00, 0xff00],
    [0x1f300, 0x1f700],
    [0xe0000, 0xe0200],
  ] as const;
  return Array.from({ length: Math.floor(random() * 20) }, () => {
    const [from, to] = ranges[Math.floor(random() * ranges.length)] ?? [0x20, 0x7f];
    return String.fromCodePoint(from + Math.floor(random() * (to - from)));
  }).join('');
}
