import type { CapturedEvent, JsonValue } from '@hansard/events';

const notAscii = /[^\0-\x7f]/;

const inWord = '[\\p{L}\\p{N}\\p{M}\\p{Co}]';

/** A word of a text, and its place. */
export interface PlacedWord {
  readonly word: string;
  readonly start: number;
  readonly end: number;
}

const run = /[\p{L}\p{N}\p{M}\p{Co}]+/gu;
/** Characters beyond Latin letters and symbols. A run without them is one word, which most texts are made of. */
const beyondLatin =
  /[\u0370-\u1dff\u1f00-\u1fff\u2c80-\ud7ff\uf900-\ufaff\ufb13-\ufdff\ufe70-\ufefc\uff66-\uffdc\u{10000}-\u{1efff}\u{20000}-\u{3ffff}]/u;
/** Runs that need no further look: Cyrillic letters, digits and marks. */
const isCyrillic = /^[\p{Script=Cyrillic}\p{N}\p{M}]+$/u;

/** Scripts that are written without spaces between words. The prolonged sound mark belongs to the kana before it. */
const unspaced = ['Han', 'Hiragana', 'Katakana', 'Thai', 'Lao', 'Khmer', 'Myanmar'] as const;
const spaced = [
  ...['Latin', 'Greek', 'Cyrillic', 'Armenian', 'Georgian', 'Hebrew', 'Arabic', 'Syriac', 'Thaana'],
  ...['Devanagari', 'Bengali', 'Gurmukhi', 'Gujarati', 'Oriya', 'Tamil', 'Telugu', 'Kannada', 'Malayalam'],
  ...['Sinhala', 'Tibetan', 'Ethiopic', 'Hangul', 'Mongolian'],
] as const;

/** Digits, marks and private characters are parts of the word beside them. */
const shared = '\\p{N}\\p{M}\\p{Co}';
const runOfScript = new RegExp(
  [
    ...unspaced.map((script) => `(?<${script}>\\p{Script=${script}}[\\p{Script=${script}}\\p{M}ー]*)`),
    ...spaced.map((script) => `[${shared}]*\\p{Script=${script}}[\\p{Script=${script}}${shared}]*`),
    `[${shared}]+`,
    '[\\p{L}\\p{M}]',
  ].join('|'),
  'gu',
);
/** A character of a script without spaces, with its marks. */
const character = /[^\p{M}]\p{M}*|\p{M}+/gu;

/**
 * The words of a text. Letters and digits, with their combining marks, make a word; every other character separates words, and so does
 * a change of script. Text in a script without spaces, such as Chinese or Thai, is found by its characters: each is a word, and so
 * are each two neighbours. Case is kept.
 */
export function* placedWords(text: string): Generator<PlacedWord> {
  for (const { 0: word, index } of text.matchAll(run)) yield* partsOf(word, index, true);
}

/** The words of `placedWords`, in their order. */
export function splitWords(text: string): string[] {
  const words: string[] = [];
  for (const word of text.match(run) ?? []) {
    if (isOneWord(word)) words.push(word);
    else for (const part of partsOf(word, 0, true)) words.push(part.word);
  }
  return words;
}

/**
 * The words that an event must contain to be found: those of the query, but of a run of several characters without spaces only
 * the pairs of neighbours.
 */
export function queryWords(query: string): string[] {
  const words: string[] = [];
  for (const { 0: word, index } of query.matchAll(run))
    for (const part of partsOf(word, index, false)) words.push(part.word);
  return words;
}

/**
 * The text for an index that splits at spaces and punctuation, such as SQLite's FTS5 with its default tokenizer: it then has the words of
 * `splitWords`.
 */
export function indexedText(text: string): string {
  if (!beyondLatin.test(text)) return text;
  return text.replace(run, (word) =>
    isOneWord(word) ? word : [...partsOf(word, 0, true)].map((part) => part.word).join(' '),
  );
}

function isOneWord(run: string): boolean {
  return !beyondLatin.test(run) || isCyrillic.test(run);
}

/** `alone`: with the single characters of a run of several. */
function* partsOf(word: string, at: number, alone: boolean): Generator<PlacedWord> {
  if (isOneWord(word)) {
    yield { word, start: at, end: at + word.length };
    return;
  }
  for (const { 0: part, index, groups = {} } of word.matchAll(runOfScript)) {
    const start = at + index;
    if (unspaced.every((script) => groups[script] === undefined))
      yield { word: part, start, end: start + part.length };
    else yield* charactersOf(part, start, alone);
  }
}

function* charactersOf(part: string, at: number, alone: boolean): Generator<PlacedWord> {
  let before: PlacedWord | null = null;
  let count = 0;
  for (const { 0: word, index } of part.matchAll(character)) {
    const one: PlacedWord = { word, start: at + index, end: at + index + word.length };
    if (before !== null) yield { word: before.word + word, start: before.start, end: one.end };
    if (alone) yield one;
    before = one;
    count += 1;
  }
  if (!alone && count === 1 && before !== null) yield before;
}

/** Keys of strings that people do not search for: encoded bytes. */
export const unsearchableKeys: ReadonlySet<string> = new Set(['signature', 'replay', 'base64', 'encoded']);

/** The accents that SQLite's FTS5 removes from letters. */
const accents = /[\u0300-\u036f]/g;

/**
 * A word as a search compares it: without case and accents, as with `unicode61 remove_diacritics 2` of SQLite's FTS5, for stores that
 * keep their own index of words.
 */
export function foldWord(word: string): string {
  return word.toLowerCase().normalize('NFD').replace(accents, '').normalize('NFC').replaceAll('ς', 'σ');
}

/** The strings in an event's data, at any depth and in their order, without those under a key of `leftOut`. */
export function stringsOf({ data }: CapturedEvent, leftOut: ReadonlySet<string> = new Set()): string[] {
  const found: string[] = [];
  collectStrings(data, leftOut, found);
  return found;
}

function collectStrings(value: JsonValue | undefined, leftOut: ReadonlySet<string>, found: string[]): void {
  if (typeof value === 'string') found.push(value);
  else if (Array.isArray(value)) for (const item of value) collectStrings(item, leftOut, found);
  else if (typeof value === 'object' && value !== null) {
    for (const key of Object.keys(value)) if (!leftOut.has(key)) collectStrings(value[key], leftOut, found);
  }
}

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

export interface SearchEventsOptions {
  /** Absent: every task. Dispatches below `_hansard` have no events. */
  readonly taskDir?: string;
  /** Absent: every dispatch of the task. Only together with `taskDir`. */
  readonly dispatchId?: string;
  /** The maximum number of hits, at least 1. Absent: 100. */
  readonly limit?: number;
  /** Called while events are added to an index before the search, with how many were added so far. */
  readonly onIndexed?: (events: number) => void;
}

export interface SearchHit {
  readonly taskDir: string;
  readonly dispatchId: string;
  readonly position: number;
  readonly event: CapturedEvent;
}
