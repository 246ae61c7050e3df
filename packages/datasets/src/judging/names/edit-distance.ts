/** The words of a list that are near a word: at most one or two letters are missing, added, changed or swapped. */
export class NearWords {
  readonly #byDeletion = new Map<string, string[]>();

  constructor(words: Iterable<string>) {
    for (const word of new Set(words))
      for (const shorter of deletionsOf(word)) {
        const list = this.#byDeletion.get(shorter);
        if (list === undefined) this.#byDeletion.set(shorter, [word]);
        else list.push(word);
      }
  }

  /** Two words that are near have a deletion in common, so that no word is compared with all. */
  of(word: string): string[] {
    const near = new Set<string>();
    for (const shorter of deletionsOf(word))
      for (const other of this.#byDeletion.get(shorter) ?? [])
        if (other !== word && distance(word, other) <= reachOf(other)) near.add(other);
    return [...near].sort();
  }
}

/** The number of edits that still make a word near another. */
const reachOf = (word: string) => (word.length < 4 ? 0 : word.length < 7 ? 1 : 2);

const longestWord = 24;

/** The word without up to two of its letters. */
function deletionsOf(word: string): ReadonlySet<string> {
  const made = new Set([word]);
  if (word.length > longestWord) return made;
  for (const _ of [1, 2])
    for (const one of [...made])
      if (one.length > 2)
        for (let at = 0; at < one.length; at += 1) made.add(one.slice(0, at) + one.slice(at + 1));
  return made;
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
