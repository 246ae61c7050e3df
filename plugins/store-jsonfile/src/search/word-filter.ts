import type { CapturedEvent } from '@hansard/events';
import { foldWord, splitWords, stringsOf, unsearchableKeys } from '@hansard/store-kit';

/** Lead bytes of the letters that lose an accent or become ASCII when they are folded, and of accents that follow a letter. */
const foldable = /[\xc3-\xca\xcc\xcd]|\xe1[\xb4-\xbf]|\xe2\x84[\xaa\xab]/;
const beyondAscii = /[\x80-\xff]/;
const notAscii = /[^\0-\x7f]/;
const inWord = '[\\p{L}\\p{N}\\p{M}\\p{Co}]';

interface AsciiWord {
  readonly word: string;
  /** Finds the word in a text without regard to case, also inside a longer word. */
  readonly anywhere: RegExp;
  /** Finds it as a word of its own, without accents. */
  readonly alone: RegExp;
}

/**
 * Finds events that contain every word of a query, as the other stores split and fold words. Most lines of a file are ruled out by their
 * bytes, without parsing them.
 */
export class WordFilter {
  readonly #words: readonly string[];
  readonly #inAscii: readonly AsciiWord[];
  readonly #others: readonly string[];

  constructor(query: string) {
    this.#words = [...new Set(splitWords(query).map(foldWord))].filter((word) => word !== '');
    // The longest one rules out the most lines.
    const byLength = this.#words.toSorted((one, other) => other.length - one.length);
    this.#inAscii = byLength.filter((word) => !notAscii.test(word)).map(asciiWord);
    this.#others = byLength.filter((word) => notAscii.test(word));
  }

  /** Whether the query has no word, so that nothing can match. */
  get isEmpty(): boolean {
    return this.#words.length === 0;
  }

  /** Whether the text of an event can contain every word. */
  mayMatch(bytes: Buffer, start: number, end: number): boolean {
    const raw = bytes.toString('latin1', start, end);
    let folded: string | null = null;
    const fold = () => {
      folded ??= foldWord(bytes.toString('utf8', start, end));
      return folded;
    };
    for (const { anywhere, word } of this.#inAscii)
      if (!anywhere.test(raw) && !(foldable.test(raw) && fold().includes(word))) return false;
    if (this.#others.length === 0) return true;
    return beyondAscii.test(raw) && this.#others.every((word) => fold().includes(word));
  }

  matches(event: CapturedEvent): boolean {
    const texts = stringsOf(event, unsearchableKeys);
    let found: Set<string> | null = null;
    const isFound = (word: string) => {
      // Only texts with letters that change when they are folded: `alone` finds the word in every other one.
      found ??= new Set(
        texts
          .filter((text) => notAscii.test(text))
          .flatMap(splitWords)
          .map(foldWord),
      );
      return found.has(word);
    };
    return (
      this.#inAscii.every(({ alone, word }) => texts.some((text) => alone.test(text)) || isFound(word)) &&
      this.#others.every(isFound)
    );
  }
}

/** The word has only letters and digits, so none of its characters is a command of regular expressions. */
function asciiWord(word: string): AsciiWord {
  // Not the flag `i`: together with `u` it takes some letters beyond ASCII for those of ASCII.
  const anyCase = [...word].map((letter) => `[${letter}${letter.toUpperCase()}]`).join('');
  return {
    word,
    anywhere: new RegExp(word, 'i'),
    alone: new RegExp(`(?<!${inWord})${anyCase}(?!${inWord})`, 'u'),
  };
}
