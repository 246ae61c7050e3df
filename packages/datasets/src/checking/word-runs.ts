/** The number of words in a row that are found again, and the number of characters of one word that is. */
const run = 4;
const rareWord = 12;

/**
 * The runs of words of a text that identify it: each four words in a row, and each long word. Numbers, case and marks between words do not count,
 * because packets replace names by pseudonyms.
 */
export function* wordRuns(text: string): Generator<string> {
  const words = text.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? [];
  for (const [at, word] of words.entries()) {
    if (word.length >= rareWord) yield word;
    if (at + run <= words.length) yield words.slice(at, at + run).join(' ');
  }
}
