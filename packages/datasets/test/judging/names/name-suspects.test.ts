import { describe, expect, it } from 'vitest';
import { createPseudonyms } from '../../../src/index.ts';

const players = ['Hannah Stone', 'Bob', 'Will', 'Christopher', 'Bjørn'].map((name) => ({
  name,
  alsoCalled: [],
}));

/** What is reported for texts after the names in them are hidden. */
function suspectsIn(...texts: string[]) {
  const { hide, suspects } = createPseudonyms(players, 'D1');
  const list = suspects();
  for (const [at, text] of texts.entries()) list.add(hide(text).text, `line ${at + 1}`);
  return list.list();
}

describe('the report of words that still look like names', () => {
  it.each([
    ['hanah lies', 'hanah', 'near', 'Hannah Stone'],
    ['I saw Hannha', 'Hannha', 'near', 'Hannah Stone'],
    ['I saw Christoper', 'Christoper', 'near', 'Christopher'],
    ['I saw Bjrn', 'Bjrn', 'near', 'Bjørn'],
    ['I saw BJÖRM', 'BJÖRM', 'near', 'Bjørn'],
    ['I trust Bobby', 'Bobby', 'contains', 'Bob'],
    ['superhannah spoke', 'superhannah', 'contains', 'Hannah Stone'],
    ['I trust Christo', 'Christo', 'short', 'Christopher'],
    ['Will you vote?', 'Will', 'unclear', 'Will'],
    ['I ask HS', 'HS', 'initials', 'Hannah Stone'],
    ['hannah2 lies', 'hannah', 'unclear', 'Hannah Stone'],
    ['2hannah lies', 'hannah', 'unclear', 'Hannah Stone'],
    ['I trust **Han**nah', 'Hannah', 'unclear', 'Hannah Stone'],
    ['{"to":"\\u0048annah"}', 'Hannah', 'unclear', 'Hannah Stone'],
    ['https://host.example/%68annah', 'hannah', 'unclear', 'Hannah Stone'],
    ['{"text":"\\tHannah spoke"}', 'Hannah', 'unclear', 'Hannah Stone'],
  ])('has the word of %j', (text, word, reason, name) => {
    expect(suspectsIn(text)).toEqual([{ word, reason, names: [name], count: 1, places: ['line 1'] }]);
  });

  it.each([
    'Hannah, hannah stone, BJORN and P1 voted, and Bob too.',
    'I will vote. The stone is heavy. Boring hands bob.',
    'Christmas is near, he said; his christening, too. Bobsleigh!',
    'hs is short for high school; we saw chris in lower case',
  ])('is empty for %j', (text) => {
    expect(suspectsIn(text)).toEqual([]);
  });

  it('counts a word in all its cases, with the first places, the most frequent first', () => {
    const texts = ['Will you? I saw hanah and Hanah.', ...Array.from({ length: 9 }, () => 'HANAH lies.')];
    const [first, second] = suspectsIn(...texts);
    expect(first).toMatchObject({ word: 'hanah', count: 11 });
    expect(first?.places).toEqual(['line 1', 'line 2', 'line 3', 'line 4', 'line 5']);
    expect(second).toMatchObject({ word: 'Will', count: 1, places: ['line 1'] });
  });
});
