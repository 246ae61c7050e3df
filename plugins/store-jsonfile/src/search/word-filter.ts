import type { CapturedEvent } from '@hansard/events';
import { EventWords, foldWord } from '@hansard/provider';

/** Lead bytes of the letters that lose an accent or become ASCII when they are folded, and of accents that follow a letter. */
const foldable = /[\xc3-\xca\xcc\xcd]|\xe1[\xb4-\xbf]|\xe2\x84[\xaa\xab]/;
const beyondAscii = /[\x80-\xff]/;

/** Finds the events with every word of a query. Most lines of a file are ruled out by their bytes, without parsing them. */
export class WordFilter {
  readonly #query: EventWords;
  /** With an expression that finds the word, ignoring case, also in a longer word. */
  readonly #inAscii: readonly (readonly [word: string, anywhere: RegExp])[];
  readonly #others: readonly string[];

  constructor(query: string) {
    this.#query = new EventWords(query);
    const { words } = this.#query;
    const isAscii = (word: string) => Buffer.byteLength(word) === word.length;
    // A word has only letters and digits, so none of its characters is a command of regular expressions.
    this.#inAscii = words.filter(isAscii).map((word) => [word, new RegExp(word, 'i')]);
    this.#others = words.filter((word) => !isAscii(word));
  }

  /** Whether the query has no word, so that nothing can match. */
  get isEmpty(): boolean {
    return this.#query.words.length === 0;
  }

  /** Whether the text of an event can contain every word. */
  mayMatch(bytes: Buffer, start: number, end: number): boolean {
    const raw = bytes.toString('latin1', start, end);
    let folded: string | null = null;
    const fold = () => {
      folded ??= foldWord(bytes.toString('utf8', start, end));
      return folded;
    };
    for (const [word, anywhere] of this.#inAscii)
      if (!anywhere.test(raw) && !(foldable.test(raw) && fold().includes(word))) return false;
    if (this.#others.length === 0) return true;
    return beyondAscii.test(raw) && this.#others.every((word) => fold().includes(word));
  }

  matches(event: CapturedEvent): boolean {
    return this.#query.areIn(event);
  }
}
