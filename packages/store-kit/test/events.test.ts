import type { CapturedEvent } from '@hansard/provider';
import { describe, expect, it } from 'vitest';
import { hasSameContent, splitWords, stringsOf } from '../src/index.ts';

describe('hasSameContent', () => {
  it('is true of equal values, even with their keys in another order', () => {
    expect(hasSameContent('{"a":1,"b":[2]}', '{"b":[2],"a":1}')).toBe(true);
  });

  it('is false of other values', () => {
    expect(hasSameContent('{"a":1}', '{"a":1,"b":null}')).toBe(false);
    expect(hasSameContent('{"a":[1,2]}', '{"a":[2,1]}')).toBe(false);
  });
});

describe('splitWords', () => {
  it.each([
    ['src/main.ts, line 12', ['src', 'main', 'ts', 'line', '12']],
    ['Café O\u0308ffnung', ['Café', 'O\u0308ffnung']],
    ['हिन्दी 会議', ['हिन्दी', '会議']],
    ['"AND" -not* (x)', ['AND', 'not', 'x']],
    [' … ', []],
  ])('splits %j into %j', (text, words) => {
    expect(splitWords(text)).toEqual(words);
  });
});

describe('stringsOf', () => {
  const event: CapturedEvent = {
    id: 'e1',
    type: 'game:bird',
    timestamp: '2026-03-01T09:00:01.000Z',
    data: { a: 'one', b: [{ c: 'two', count: 3 }, null, 'three'], signature: 'zebra' },
  };

  it('returns every string in the data, at any depth and in order', () => {
    expect(stringsOf(event)).toEqual(['one', 'two', 'three', 'zebra']);
  });

  it('leaves out the keys that it is given', () => {
    expect(stringsOf(event, new Set(['signature', 'c']))).toEqual(['one', 'three']);
  });
});
