import { neutraliseControlsInLine } from '@hansard/events/plain';
import { columnsOf, fitColumns } from './columns.ts';

/** A part of a snippet. */
export interface SnippetPart {
  readonly text: string;
  /** Whether it is a word of the query. */
  readonly isWord: boolean;
}

/** Characters before the first word, where there is room for more. */
const before = 24;

interface Place {
  readonly start: number;
  readonly end: number;
}

interface SnippetOptions {
  /** The words of the query, folded. */
  readonly words: readonly string[];
  /** Folds a word as those of the query are. */
  readonly fold: (word: string) => string;
  /** Splits a text into words as the search does, with their places. Words can overlap. */
  readonly split: (text: string) => Iterable<{ readonly word: string } & Place>;
  /** In columns. */
  readonly width: number;
}

/**
 * The part of a text around the first word of a query, on one line and without control characters. Of several texts it takes that with the most
 * words is shown.
 */
export function snippetOf(
  texts: readonly string[],
  { words, fold, split, width }: SnippetOptions,
): SnippetPart[] {
  const wanted = new Set(words);
  let best: { readonly text: string; readonly places: readonly Place[]; readonly found: number } | null =
    null;
  for (const text of texts) {
    const places: Place[] = [];
    const found = new Set<string>();
    for (const { word, start, end } of split(text)) {
      const folded = fold(word);
      if (!wanted.has(folded)) continue;
      found.add(folded);
      addPlace(places, { start, end });
    }
    if (best === null || found.size > best.found) best = { text, places, found: found.size };
  }
  return best === null ? [] : partsOf(best.text, best.places, width);
}

/** Adds a place. Overlapping ones become one. */
function addPlace(places: Place[], { start, end }: Place): void {
  const last = places.at(-1);
  if (last === undefined || start >= last.end) places.push({ start, end });
  else places[places.length - 1] = { start: last.start, end: Math.max(last.end, end) };
}

function partsOf(text: string, places: readonly Place[], width: number): SnippetPart[] {
  const first = places[0]?.start ?? 0;
  const start = first <= before ? 0 : startOfWord(text, first - before);
  const parts: SnippetPart[] = [];
  let room = width;
  /** @returns false if the width is used up */
  const add = (piece: string, isWord: boolean): boolean => {
    const line = neutraliseControlsInLine(piece.replace(/\s+/g, ' '));
    const fitted = fitColumns(line, room);
    room -= columnsOf(fitted);
    if (fitted !== '') parts.push({ text: fitted, isWord });
    return fitted === line && room > 0;
  };
  if (start > 0) add('…', false);
  let at = start;
  for (const place of places) {
    if (!add(text.slice(at, place.start), false) || !add(text.slice(place.start, place.end), true))
      return parts;
    at = place.end;
  }
  // More than a line can show is never looked at.
  add(text.slice(at, at + 4 * width), false);
  return parts;
}

/** The start of the word after a place, so that a snippet does not begin inside one. */
function startOfWord(text: string, from: number): number {
  const space = text.slice(from, from + before).search(/\s/);
  return space < 0 ? from : from + space + 1;
}
