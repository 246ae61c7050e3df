import type { CapturedEvent } from '@hansard/events';
import { foldWord, queryWords, splitWords, stringsOf, unsearchableKeys } from './search-text.ts';

const notAscii = /[^\0-\x7f]/;
const inWord = '[\\p{L}\\p{N}\\p{M}\\p{Co}]';

/** The words of a query, for a store or a program that searches events without an index. */
export class EventWords {
  /** Folded, each once, the longest first. */
  readonly words: readonly string[];
  readonly #alone: ReadonlyMap<string, RegExp>;

  constructor(query: string) {
    const words = new Set(queryWords(query).map(foldWord));
    words.delete('');
    this.words = [...words].sort((one, other) => other.length - one.length);
    const ascii = this.words.filter((word) => !notAscii.test(word));
    this.#alone = new Map(ascii.map((word) => [word, aloneIn(word)]));
  }

  /**
   * Whether the texts of an event contain every word, without those under a key of `leftOut`. An event never contains the words of a
   * query without one.
   */
  areIn(event: CapturedEvent, leftOut: ReadonlySet<string> = unsearchableKeys): boolean {
    if (this.words.length === 0) return false;
    const texts = stringsOf(event, leftOut);
    let folded: Set<string> | null = null;
    return this.words.every((word) => {
      const alone = this.#alone.get(word);
      if (alone !== undefined && texts.some((text) => alone.test(text))) return true;
      // Only texts with letters that change when they are folded: the expression finds the word in every other one.
      folded ??= new Set(
        texts
          .filter((text) => notAscii.test(text))
          .flatMap(splitWords)
          .map(foldWord),
      );
      return folded.has(word);
    });
  }
}

/** Finds a word of ASCII letters and digits, ignoring case, that is not a part of another word. */
function aloneIn(word: string): RegExp {
  // Not the flag `i`: together with `u` it takes some letters beyond ASCII for those of ASCII.
  const anyCase = [...word].map((letter) => `[${letter}${letter.toUpperCase()}]`).join('');
  return new RegExp(`(?<!${inWord})${anyCase}(?!${inWord})`, 'u');
}
