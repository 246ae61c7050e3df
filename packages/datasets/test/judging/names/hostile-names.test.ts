import { describe, expect, it } from 'vitest';
import { createPseudonyms, type Player } from '../../../src/index.ts';

const named = (...names: string[]): Player[] => names.map((name) => ({ name, alsoCalled: [] }));
const pseudonymsOf = (...names: string[]) => createPseudonyms(named(...names), 'D1');

const letters = [...'abcdefghijklmnopqrst'];
const village = letters.map(
  (letter, at): Player => ({
    name: `Zora${letter} Quist${letter}`,
    alsoCalled: [`agent_${at}`],
    aliases: letters.slice(0, 10).map((other) => `nick${letter}${other}`),
  }),
);

describe('hostile names', () => {
  it.each([
    '.*',
    '(a+)+$',
    '[',
    '\\',
    '$&',
    '{2}',
    '^',
    '|',
    '?',
    '\u0000',
    '\ud800',
    '__proto__',
    'constructor',
  ])('that mean something to a regular expression or an object are hidden: %j', (name) => {
    const { hide, of } = pseudonymsOf(name, 'Zed');
    expect(hide(`It was ${name} and Zed`).text).toBe(`It was ${of(name)} and ${of('Zed')}`);
  });

  it.each(['', ' ', '\u200b'])('that are empty hide nothing: %j', (name) => {
    expect(pseudonymsOf(name, 'Zed').hide('a b c').text).toBe('a b c');
  });

  it.each([['x'.repeat(10_000)], ['x y '.repeat(40)], ['x'.repeat(201)]])(
    'that are too long are refused with a code',
    (name) => {
      expect(() => pseudonymsOf(name)).toThrow(expect.objectContaining({ code: 'FORMAT_NAME_TOO_LONG' }));
    },
  );

  it('are hidden up to the limit', () => {
    const name = 'x'.repeat(200);
    expect(pseudonymsOf(name).hide(`It was ${name}!`)).toEqual({ text: 'It was P1!', count: 1 });
  });
});

describe('long texts', () => {
  const { hide, suspects } = createPseudonyms(village, 'D1');

  it.each([
    ['prose with names', 'I think that Zoraa Quista lies, and zora is near. agent_3 and NICKBA vote. ', 3],
    ['names that end too early', 'Zora Zoraa-Quis agent_ nick ', 1],
    ['separators', 'Zoraa        ', 1],
    ['zeros', 'agent 000000000000', 0],
    ['titles', 'Dr Mr. Dr Mr. ', 0],
    ['quotes', '"\'“', 0],
  ])('of %s are searched in seconds', { timeout: 30_000 }, (_, piece, names) => {
    const times = Math.ceil(400_000 / piece.length);
    const { text, count } = hide(piece.repeat(times));
    expect(count).toBe(names * times);
    const list = suspects();
    list.add(text, 'here');
    expect(list.list().every((suspect) => suspect.count <= 2 * times)).toBe(true);
  });
});
