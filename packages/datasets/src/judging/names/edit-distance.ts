/** The words of a list that are near a word: at most one or two letters are missing, added, changed or swapped. */
export class NearWords {
  readonly #words: readonly { readonly word: string; readonly letters: number; readonly reach: number }[];

  constructor(words: Iterable<string>) {
    this.#words = [...new Set(words)].map((word) => ({
      word,
      letters: lettersOf(word),
      reach: word.length < 7 ? 1 : 2,
    }));
  }

  /** An edit changes the set of letters in at most two places, which rules out most words without a comparison. */
  of(word: string): string[] {
    const letters = lettersOf(word);
    const near: string[] = [];
    for (const { word: other, letters: theirs, reach } of this.#words) {
      if (Math.abs(other.length - word.length) > reach || bitsOf(letters ^ theirs) > 2 * reach) continue;
      if (other !== word && distance(word, other) <= reach) near.push(other);
    }
    return near;
  }
}

/** A bit for each letter of a word. */
function lettersOf(word: string): number {
  let letters = 0;
  for (let at = 0; at < word.length; at += 1) letters |= 1 << (word.charCodeAt(at) & 31);
  return letters;
}

function bitsOf(set: number): number {
  let count = 0;
  for (let rest = set; rest !== 0; rest &= rest - 1) count += 1;
  return count;
}

/** The number of letters to add, remove, change or swap with the next one. */
function distance(one: string, other: string): number {
  let [beforeLast, last]: [number[], number[]] = [
    [],
    Array.from({ length: other.length + 1 }, (_, at) => at),
  ];
  for (let row = 1; row <= one.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= other.length; column += 1) {
      const isSame = one[row - 1] === other[column - 1];
      let best = Math.min(
        (last[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (isSame ? 0 : 1),
      );
      const isSwap =
        row > 1 && column > 1 && one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1];
      if (isSwap) best = Math.min(best, (beforeLast[column - 2] ?? 0) + 1);
      current.push(best);
    }
    [beforeLast, last] = [last, current];
  }
  return last[other.length] ?? 0;
}
