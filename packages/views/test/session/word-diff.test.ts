import { describe, expect, it } from 'vitest';
import { createLogIndex, deliveryDiffs, renderDeliveryDiffs, renderDiff, wordDiff } from '../../src/index.ts';
import { created, marketLog, says } from '../market-log.ts';

describe('wordDiff', () => {
  it('gives removed and added words', () => {
    const parts = wordDiff('the key is under the mat', '[Ann]: the key is [hidden]');
    expect(renderDiff(parts)).toBe('{+[Ann]: +}the key is [-under the mat-]{+[hidden]+}');
  });

  it.each([
    ['', ''],
    ['', 'new'],
    ['gone', ''],
    ['the same', 'the same'],
    ['one  two\n three', 'one two\n\nthree four'],
    ['żółw ☕️ 你好', '☕️ żółw 你好!'],
  ])('loses nothing of %j and %j', (said, received) => {
    const parts = wordDiff(said, received);
    const without = (kind: 'added' | 'removed') =>
      parts.flatMap((part) => (part.kind === kind ? [] : [part.text])).join('');
    expect(without('added')).toBe(said);
    expect(without('removed')).toBe(received);
  });

  it('gives texts with little in common as one part each', () => {
    const words = (word: string) => Array.from({ length: 5_000 }, (_, index) => `${word}${index}`).join(' ');
    expect(wordDiff(words('a'), words('b'))).toEqual([
      { kind: 'removed', text: words('a') },
      { kind: 'added', text: words('b') },
    ]);
  });

  it('is neutralised when it is rendered', () => {
    expect(renderDiff(wordDiff('', '\u001b[2J'))).toBe('{+␛[2J+}');
  });
});

describe('deliveryDiffs', () => {
  const index = createLogIndex([created('e0', 'zoe'), ...marketLog()]);

  it('compares a saying with each delivery', () => {
    expect(renderDeliveryDiffs(index, deliveryDiffs(index, 'e15'))).toBe(
      [
        'e17  Ben → Ann (altered via e16): {+[Ben]: +}Rye with caraway, baked at [-240 degrees-]{+[hidden]+}',
        'e29  Ben → Olga (wrapped): {+[Ben]: +}Rye with caraway, baked at 240 degrees{+',
        '                           [Ann]: Two loaves, please.+}',
      ].join('\n'),
    );
  });

  it('compares a delivery with the saying that it carries', () => {
    expect(deliveryDiffs(index, 'e28').map(({ saying, hearing }) => [saying.id, hearing.event.id])).toEqual([
      ['e27', 'e28'],
    ]);
  });

  it('says so if nothing was delivered', () => {
    const alone = createLogIndex([says('e1', 'ben', 'Hello?')]);
    expect(renderDeliveryDiffs(alone, deliveryDiffs(alone, 'e1'))).toBe('(it reached nobody)');
  });

  it('refuses an event that is neither a saying nor a delivery', () => {
    expect(() => deliveryDiffs(index, 'e11')).toThrow(TypeError);
  });
});
