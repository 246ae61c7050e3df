import type { CapturedEvent, JsonValue } from '@hansard/events';

/**
 * The words of a text: runs of letters and digits, with their combining marks; every other character separates words. Case
 * is kept. SQLite's FTS5 splits in the same way with its default tokenizer, so a query splits as the index did.
 */
export function splitWords(text: string): string[] {
  return text.match(/[\p{L}\p{N}\p{M}\p{Co}]+/gu) ?? [];
}

/** Keys of strings that people do not search for: ids of calls and encoded bytes. */
export const unsearchableKeys: ReadonlySet<string> = new Set([
  'toolCallId',
  'signature',
  'replay',
  'base64',
  'encoded',
]);

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
