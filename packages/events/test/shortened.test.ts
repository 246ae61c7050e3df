import { describe, expect, it } from 'vitest';
import { shortened } from '../src/index.ts';

describe('a text that is shortened', () => {
  it.each<[string, number, string]>([
    ['one two', 7, 'one two'],
    ['one two three', 9, 'one two …'],
    ['one two three', 8, 'one two…'],
    ['one two three', 12, 'one two …'],
    ['{"path":"/a/long/path/to/a/file"}', 20, '{"path":"…'],
    ['abcdefghij', 5, '…'],
    ['x https://host.example:8080/a/b/c/d/e/f', 36, 'x https://host.example:8080/…'],
    ['x https://user:1234@host.example/a/b/c/d/e/f', 40, 'x …'],
    ['x https://user@host.example/a/b/c/d/e/f', 36, 'x …'],
    ['字字字字字字', 4, '字字字…'],
    ['字字ab字字', 4, '字字…'],
    ['🦊🦊🦊', 3, '🦊…'],
    ['🦊🦊🦊', 4, '🦊…'],
  ])('%j to %i', (text, longest, expected) => {
    const short = shortened(text, longest);
    expect(short).toBe(expected);
    expect(short.length).toBeLessThanOrEqual(longest);
    expect(shortened(short, longest)).toBe(short);
    expect(short.isWellFormed()).toBe(true);
  });
});
