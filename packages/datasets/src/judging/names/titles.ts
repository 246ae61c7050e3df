import { capitalTitles, plainTitles } from './common-words.ts';
import { fold } from './fold.ts';

/** The titles before names, such as `Dr.` and `Miss`. */
export class Titles {
  readonly #plain: ReadonlySet<string>;

  constructor(titles: readonly string[] = []) {
    this.#plain = new Set([...plainTitles, ...titles.map((title) => fold(title.replace(/\.$/, '')).folded)]);
  }

  has(word: string): boolean {
    return this.#plain.has(word) || capitalTitles.has(word);
  }

  /** Where the titles before a name begin; `from` if there are none. */
  startBefore(source: string, from: number): number {
    let start = from;
    for (;;) {
      const before = /(?<![\p{L}\p{N}])(\p{L}+)\.?\s{1,3}$/u.exec(
        source.slice(Math.max(0, start - 24), start),
      );
      const word = before?.[1] ?? '';
      const folded = fold(word).folded;
      const isTitle = this.#plain.has(folded) || (capitalTitles.has(folded) && /^\p{Lu}/u.test(word));
      if (before === null || !isTitle) return start;
      start -= before[0].length;
    }
  }
}
