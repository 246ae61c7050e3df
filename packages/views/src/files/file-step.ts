import type { FileRecord, Hunk, Replacement } from './file-records.ts';
import { keptLines, unclear, written } from './kept-lines.ts';
import type { Lines, LineTable } from './line-table.ts';

/** A {@link FileRecord} whose contents are lines, as far as they are recorded. */
export interface FileStep extends Omit<FileRecord, 'before' | 'after'> {
  readonly before?: Lines | null;
  readonly after?: Lines | null;
  /** For each line after the change the line before it, or `written`, as the event states it. Null: it does not. */
  readonly sources: Int32Array | null;
}

interface Change {
  readonly after: Lines;
  readonly sources: Int32Array | null;
}

/** Reads the contents of a record. Without a recorded content before, `placeStep` completes the step. */
export function stepOf(table: LineTable, { before, after, ...record }: FileRecord): FileStep {
  const isKnown = before !== undefined && !record.isSeen;
  const from = typeof before === 'string' ? before : '';
  const to = typeof after === 'string' ? after : undefined;
  const old = before == null ? before : table.linesOf(from);
  const change =
    isKnown && after !== null ? changeOf(table, from, old ?? new Uint32Array(), to, record) : null;
  const { after: lines, sources = null } = change ?? {
    after: to === undefined ? (after as null | undefined) : table.linesOf(to),
  };
  const isDone = change !== null || isKnown;
  return {
    ...record,
    ...(isDone && { replaced: [], hunks: null }),
    ...(old !== undefined && { before: old }),
    ...(lines !== undefined && { after: lines }),
    sources,
  };
}

/** Replays a step, whose content before is not recorded, on a replayed content; null if it does not fit there. */
export function placeStep(table: LineTable, content: Lines, step: FileStep): Change | null {
  const before = Array.from(content, (line) => `${table.textOf(line)}\n`).join('');
  if (step.after == null) return changeOf(table, before, content, undefined, step);
  const sources = step.hunks === null ? null : followHunks(table, content, step.after, step.hunks);
  return sources === null ? null : { after: step.after, sources };
}

/** The lines that the hunks of a step say it wrote, where nothing else is known of the content before. */
export function linesWritten(table: LineTable, after: Lines, hunks: readonly Hunk[]): Uint8Array {
  const isWritten = new Uint8Array(after.length);
  for (const { newStart, lines } of hunks) {
    let at = newStart - 1;
    for (const line of lines) {
      if (line.startsWith('-')) continue;
      if (line.startsWith('+') && isShownAs(table, after[at], line)) isWritten[at] = 1;
      at += 1;
    }
  }
  return isWritten;
}

function changeOf(
  table: LineTable,
  before: string,
  old: Lines,
  after: string | undefined,
  { replaced, hunks, isExact }: Pick<FileStep, 'replaced' | 'hunks' | 'isExact'>,
): Change | null {
  if (after !== undefined) {
    const lines = table.linesOf(after);
    return { after: lines, sources: hunks === null ? null : followHunks(table, old, lines, hunks) };
  }
  const results = replaced.length === 0 ? [] : replacements(table, before, old, replaced);
  if (hunks === null) return results[0] ?? null;
  for (const { after: lines } of results) {
    const sources = followHunks(table, old, lines, hunks);
    if (sources !== null) return { after: lines, sources };
  }
  return results[0] ?? patched(table, old, hunks, isExact);
}

/**
 * The results of replacements; none if a text does not occur as stated. Claude Code removes the end of a line with a text that is replaced by nothing; the
 * second result is without that.
 */
function replacements(
  table: LineTable,
  before: string,
  old: Lines,
  replaced: readonly Replacement[],
): Change[] {
  const ways = replaced.some(({ to }) => to === '') ? [true, false] : [false];
  return ways.flatMap((isWholeLine) => {
    const file = new ReplacedText(table, before, old);
    if (!replaced.every((one) => file.replace(one, isWholeLine))) return [];
    return [file.change()];
  });
}

/** A content in which texts are replaced, with the sources of its lines. */
class ReplacedText {
  readonly #table: LineTable;
  #text: string;
  /** The pieces between line ends: the last one is empty if the text ends with a line end. */
  readonly #lines: number[];
  readonly #sources: number[];

  constructor(table: LineTable, text: string, lines: Lines) {
    this.#table = table;
    const plain = text.replace(/^\ufeff/, '');
    this.#text = plain.includes('\r') ? plain.replaceAll('\r\n', '\n') : plain;
    this.#lines = [...lines];
    if (this.#endsLine) this.#lines.push(table.numberOf(''));
    this.#sources = this.#lines.map((_, at) => at);
  }

  get #endsLine(): boolean {
    return this.#text === '' || this.#text.endsWith('\n');
  }

  change(): Change {
    const length = this.#lines.length - (this.#endsLine ? 1 : 0);
    return {
      after: Uint32Array.from(this.#lines.slice(0, length)),
      sources: Int32Array.from(this.#sources.slice(0, length)),
    };
  }

  /** Whether the text occurs as stated, and was replaced. */
  replace({ from, to, isAll }: Replacement, isWholeLine: boolean): boolean {
    const [wanted, put] = [from, to].map((one) => one.replaceAll('\r\n', '\n')) as [string, string];
    const text = this.#text;
    if (wanted === '' && text !== '') return false;
    const isLine = isWholeLine && put === '' && !wanted.endsWith('\n') && text.includes(`${wanted}\n`);
    const sought = isLine ? `${wanted}\n` : wanted;
    const pieces = sought === '' ? ['', ''] : text.split(sought);
    if (pieces.length === 1 || (pieces.length > 2 && !isAll)) return false;
    let result = pieces[0] as string;
    let line = lineEnds(result);
    for (const piece of pieces.slice(1)) {
      const head = result.slice(result.lastIndexOf('\n') + 1);
      const end = piece.indexOf('\n');
      this.#splice(line, { head, tail: end < 0 ? piece : piece.slice(0, end) }, sought, put);
      result += put + piece;
      line += lineEnds(put) + lineEnds(piece);
    }
    this.#text = result;
    return true;
  }

  /** Replaces lines, of which a part is replaced. */
  #splice(
    at: number,
    { head, tail }: { readonly head: string; readonly tail: string },
    from: string,
    to: string,
  ): void {
    const [old, now] = [from, to].map((one) =>
      Uint32Array.from(`${head}${one}${tail}`.split('\n'), (line) => this.#table.numberOf(line)),
    ) as [Lines, Lines];
    const known = this.#sources.slice(at, at + old.length);
    const sources = Array.from(replacedLines(old, now), (source) => known[source] ?? source);
    this.#sources.splice(at, old.length, ...sources);
    this.#lines.splice(at, old.length, ...now);
  }
}

function lineEnds(text: string): number {
  let count = 0;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) count += 1;
  return count;
}

/** The sources of the lines of a replacement: equal first and last ones were kept, unless others of the same text could be the kept ones. */
function replacedLines(old: Lines, now: Lines): Int32Array {
  const kept = keptLines(old, now, (line, other) => line === other);
  const shorter = Math.min(old.length, now.length);
  let first = 0;
  while (first < shorter && old[first] === now[first]) first += 1;
  let last = 0;
  while (last < shorter - first && old.at(-1 - last) === now.at(-1 - last)) last += 1;
  return kept.map((source, at) => {
    const isInner = at >= first && at < now.length - last;
    return isInner && source !== unclear ? written : source;
  });
}

/** The sources of the lines of a content, as hunks state them; null if the hunks do not lead from one content to the other. */
function followHunks(
  table: LineTable,
  before: Lines,
  after: Lines,
  hunks: readonly Hunk[],
): Int32Array | null {
  const sources = new Int32Array(after.length).fill(written);
  let [old, now] = [0, 0];
  const keep = (): boolean => {
    if (before[old] === undefined || before[old] !== after[now]) return false;
    sources[now] = old;
    old += 1;
    now += 1;
    return true;
  };
  for (const { oldStart, newStart, lines } of hunks) {
    const hasNew = lines.some((line) => !line.startsWith('-'));
    while (hasNew ? now < newStart - 1 : old < oldStart - 1) if (!keep()) return null;
    for (const line of lines) {
      const [side] = line;
      if (side === '+') {
        if (!isShownAs(table, after[now], line)) return null;
        now += 1;
      } else if (side === '-') {
        if (!isShownAs(table, before[old], line)) return null;
        old += 1;
      } else if (!isShownAs(table, before[old], line) || !keep()) return null;
    }
  }
  while (old < before.length) if (!keep()) return null;
  return now === after.length ? sources : null;
}

/** The content that hunks make, where their lines are the lines of the file: tools show a tab at the start of a line as two spaces. */
function patched(table: LineTable, before: Lines, hunks: readonly Hunk[], isExact: boolean): Change | null {
  if (!isExact && before.some((line) => table.textOf(line).startsWith('\t'))) return null;
  const after: number[] = [];
  let old = 0;
  for (const { oldStart, newStart, lines } of hunks) {
    const hasNew = lines.some((line) => !line.startsWith('-'));
    while (old < before.length && (hasNew ? after.length < newStart - 1 : old < oldStart - 1))
      after.push(before[old++] as number);
    for (const line of lines) {
      if (line.startsWith('+')) after.push(table.numberOf(line.slice(1)));
      else {
        if (!line.startsWith('-') && before[old] !== undefined) after.push(before[old] as number);
        old += 1;
      }
    }
  }
  after.push(...before.subarray(old));
  const lines = Uint32Array.from(after);
  const sources = followHunks(table, before, lines, hunks);
  return sources === null ? null : { after: lines, sources };
}

function isShownAs(table: LineTable, line: number | undefined, shown: string): boolean {
  if (line === undefined) return false;
  const text = table.textOf(line);
  const said = shown.slice(1).replace(/\r$/, '');
  return text === said || text.replace(/^\t+/, (tabs) => '  '.repeat(tabs.length)) === said;
}
