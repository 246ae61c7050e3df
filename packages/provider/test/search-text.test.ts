import type { CapturedEvent } from '@hansard/events';
import { describe, expect, it } from 'vitest';
import { splitWords, stringsOf } from '../src/index.ts';

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
