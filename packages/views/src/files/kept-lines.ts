import type { Lines } from './line-table.ts';

/** The line is in no shortest description of the change a kept one: it was written. */
export const written = -1;
/** Shortest descriptions of the change disagree, or the contents differ too much to compare them. */
export const unclear = -2;

/** The most places of two contents that are compared. */
const mostPlaces = 8_000_000;

/**
 * Which lines a change has kept, of which only the content before and after it is known. A *description* of the change removes lines
 * of `before` and inserts lines of `after`; the lines between are kept. For each line of `after`: the number of the line of `before` that it is in
 * every shortest description, `written` if it is inserted in every one, otherwise `unclear`. If several lines of `before` with one
 * owner are possible, it is one of these.
 */
export function keptLines(
  before: Lines,
  after: Lines,
  isOneOwner: (line: number, other: number) => boolean,
): Int32Array {
  const kept = new Int32Array(after.length).fill(unclear);
  const { head, tail } = sureEnds(before, after);
  for (let at = 0; at < head; at += 1) kept[at] = at;
  for (let at = 1; at <= tail; at += 1) kept[after.length - at] = before.length - at;
  const window = new Window(
    before.subarray(head, before.length - tail),
    after.subarray(head, after.length - tail),
  );
  const middle = window.kept((line, other) => isOneOwner(line + head, other + head));
  middle.forEach((line, at) => {
    kept[head + at] = line < 0 ? line : line + head;
  });
  return kept;
}

/**
 * How many first and last lines every shortest description keeps: the equal ones up to the last that occurs once in each content. A
 * description that does not keep such a line among equal first lines loses one line more than it can win.
 */
function sureEnds(before: Lines, after: Lines): { readonly head: number; readonly tail: number } {
  if (before.length === after.length && before.every((line, at) => line === after[at]))
    return { head: before.length, tail: 0 };
  const isUnique = uniqueIn(before, after);
  const shorter = Math.min(before.length, after.length);
  let head = 0;
  for (let at = 0; at < shorter && before[at] === after[at]; at += 1)
    if (isUnique(before[at] as number)) head = at + 1;
  let tail = 0;
  for (let at = 1; at <= shorter - head && before.at(-at) === after.at(-at); at += 1)
    if (isUnique(before.at(-at) as number)) tail = at;
  return { head, tail };
}

/** Whether a line occurs once in each of two contents. */
export function uniqueIn(before: Lines, after: Lines): (line: number) => boolean {
  const [one, other] = [before, after].map((lines) => {
    const counts = new Map<number, number>();
    for (const line of lines) counts.set(line, (counts.get(line) ?? 0) + 1);
    return counts;
  }) as [Map<number, number>, Map<number, number>];
  return (line) => one.get(line) === 1 && other.get(line) === 1;
}

/** Two contents, compared at the places that a shortest description can pass. A place is before a line of each. */
class Window {
  readonly #before: Lines;
  readonly #after: Lines;
  /** The first and the last difference of the two line numbers of a place. */
  #low = 0;
  #high = 0;

  constructor(before: Lines, after: Lines) {
    this.#before = before;
    this.#after = after;
  }

  kept(isOneOwner: (line: number, other: number) => boolean): Int32Array {
    const [before, after] = [this.#before, this.#after];
    const kept = new Int32Array(after.length).fill(written);
    if (before.length === 0 || after.length === 0) return kept;
    const rows = this.#longest();
    if (rows === null) return this.#withoutComparison();
    const width = this.#high - this.#low + 1;
    const most = rows.at(before.length * width + (after.length - before.length) - this.#low) as number;
    const isSkipped = new Uint8Array(after.length);
    // From the last row up; `below` has the longest remainders from the places of the row below.
    let below = new Int32Array(width + 2).fill(-1);
    for (let line = before.length; line >= 0; line -= 1) {
      const rest = new Int32Array(width + 2).fill(-1);
      for (let step = width - 1; step >= 0; step -= 1) {
        const other = line + this.#low + step;
        if (other < 0 || other > after.length) continue;
        const isLast = line === before.length;
        const isEqual = !isLast && other < after.length && before[line] === after[other];
        const over = isLast ? -1 : (below[step] as number);
        const skipped = other === after.length ? -1 : (rest[step + 2] as number);
        const both = isEqual ? withOne(below[step + 1]) : -1;
        rest[step + 1] = Math.max(over, skipped, both, isLast && other === after.length ? 0 : -1);
        const first = rows[line * width + step] as number;
        if (first < 0) continue;
        if (skipped >= 0 && first + skipped === most) isSkipped[other] = 1;
        if (both >= 0 && first + both === most) kept[other] = joined(kept, other, line, isOneOwner);
      }
      below = rest;
    }
    return kept.map((line, at) => (line !== written && isSkipped[at] === 1 ? unclear : line));
  }

  /** For each place the most lines that can be kept up to it; null if there are too many places. */
  #longest(): Int32Array | null {
    const [n, m] = [this.#before.length, this.#after.length];
    let edits = Math.abs(m - n) + 16;
    for (;;) {
      this.#low = -Math.ceil((edits - (m - n)) / 2);
      this.#high = Math.ceil((edits + (m - n)) / 2);
      const width = this.#high - this.#low + 1;
      if ((n + 1) * width > mostPlaces) return null;
      const rows = this.#fill(width);
      const needed = n + m - 2 * (rows[n * width + (m - n) - this.#low] as number);
      // With that many edits, no shortest description leaves the places that were looked at.
      if (needed <= edits) return rows;
      edits = Math.min(needed, 4 * edits);
    }
  }

  #fill(width: number): Int32Array {
    const [before, after] = [this.#before, this.#after];
    const rows = new Int32Array((before.length + 1) * width).fill(-1);
    for (let line = 0; line <= before.length; line += 1) {
      const start = line * width;
      for (let step = 0; step < width; step += 1) {
        const other = line + this.#low + step;
        if (other < 0 || other > after.length) continue;
        let most = line === 0 && other === 0 ? 0 : -1;
        if (step > 0 && other > 0) most = Math.max(most, rows[start + step - 1] as number);
        if (line > 0) {
          if (step + 1 < width) most = Math.max(most, rows[start - width + step + 1] as number);
          const both = other > 0 && before[line - 1] === after[other - 1];
          if (both) most = Math.max(most, withOne(rows[start - width + step]));
        }
        rows[start + step] = most;
      }
    }
    return rows;
  }

  /** A line that does not occur in the content before was written; of the others nothing is known. */
  #withoutComparison(): Int32Array {
    const texts = new Set(this.#before);
    return Int32Array.from(this.#after, (line) => (texts.has(line) ? unclear : written));
  }
}

/** A line more than from a place; -1 if the place cannot be reached. */
function withOne(lines: number | undefined): number {
  return lines === undefined || lines < 0 ? -1 : lines + 1;
}

function joined(
  kept: Int32Array,
  at: number,
  line: number,
  isOneOwner: (line: number, other: number) => boolean,
): number {
  const known = kept[at] as number;
  if (known === written) return line;
  return known === unclear || !isOneOwner(known, line) ? unclear : line;
}
