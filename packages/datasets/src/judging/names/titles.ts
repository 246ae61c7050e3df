import { capitalTitles, plainTitles } from './common-words.ts';
import { fold } from './fold.ts';

const longestTitle = 24;
const endingInTitle = /(?<![\p{L}\p{N}])(\p{L}+)\.?\s{1,3}$/u;

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
    while (/\s/.test(source.charAt(start - 1))) {
      const before = endingInTitle.exec(source.slice(Math.max(0, start - longestTitle), start));
      const word = before?.[1] ?? '';
      const folded = fold(word).folded;
      const isTitle = this.#plain.has(folded) || (capitalTitles.has(folded) && /^\p{Lu}/u.test(word));
      if (before === null || !isTitle) break;
      start -= before[0].length;
    }
    return start;
  }
}
