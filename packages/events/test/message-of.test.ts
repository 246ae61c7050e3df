import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { messageOf } from '../src/index.ts';

describe('the text of a thrown value', () => {
  it.each([
    [new Error('no space'), 'no space'],
    [runInNewContext('new Error("of another realm")'), 'of another realm'],
    [{ message: 'looks like an error' }, 'looks like an error'],
    ['a string', 'a string'],
    [undefined, 'undefined'],
    [null, 'null'],
    [7, '7'],
    [Symbol('s'), 'Symbol(s)'],
    [{ message: 5 }, '{"message":5}'],
  ])('%s is %j', (thrown, text) => {
    expect(messageOf(thrown)).toBe(text);
  });

  it('is short for a large value', () => {
    expect(messageOf({ all: 'x'.repeat(1000) }).length).toBeLessThan(100);
  });
});
