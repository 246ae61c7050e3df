import { neutraliseControls } from '@hansard/events/plain';
import stringWidth from 'string-width';

const graphemes = new Intl.Segmenter();

/**
 * Printable characters of Latin-1, one column each, without the soft hyphen, which takes none; and dashes, quotation marks, arrows and lines, which
 * are as narrow.
 */
const narrow =
  /^[ -~\xa1-\xac\xae-\xff\u2010-\u2015\u2018-\u201f\u2022\u2026\u2190-\u2193\u21e2\u2500-\u257f\u25b8\u25be\u2717]*$/;

/** The width of a line in columns of a terminal; wide characters take two. */
export function columnsOf(line: string): number {
  return narrow.test(line) ? line.length : stringWidth(line);
}

/**
 * The line if it fits in `columns`; otherwise as much of its start (or end) as fits beside a `…`. Never splits a character.
 */
export function fitColumns(line: string, columns: number, keep: 'start' | 'end' = 'start'): string {
  if (columns <= 0) return '';
  // Text far beyond the limit is not measured.
  const reach = columns * 16;
  const near = keep === 'start' ? line.slice(0, reach) : line.slice(-reach);
  if (near.length === line.length && columnsOf(line) <= columns) return line;
  const characters = Array.from(graphemes.segment(near), ({ segment }) => segment);
  if (keep === 'end') characters.reverse();
  const kept: string[] = [];
  let used = 0;
  for (const character of characters) {
    used += columnsOf(character);
    if (used > columns - 1) break;
    kept.push(character);
  }
  return keep === 'start' ? `${kept.join('')}…` : `…${kept.reverse().join('')}`;
}

/** The line, padded with spaces to `columns`. `side`: where the text is. */
export function padColumns(line: string, columns: number, side: 'left' | 'right' = 'left'): string {
  const padding = ' '.repeat(Math.max(0, columns - columnsOf(line)));
  return side === 'left' ? line + padding : padding + line;
}

/** Rows of cells as lines with aligned columns. The cells are printed as they are. */
export function alignColumns(
  rows: readonly (readonly string[])[],
  sides: readonly ('left' | 'right')[] = [],
): string {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [index, cell] of row.entries()) widths[index] = Math.max(widths[index] ?? 0, columnsOf(cell));
  }
  return rows
    .map((row) =>
      row
        .map((cell, index) => padColumns(cell, widths[index] ?? 0, sides[index]))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** A text after a start, with its further lines indented below its first. Neutralises the text; the start must be neutralised. */
export function hangingLines(start: string, text: string): string {
  const margin = ' '.repeat(columnsOf(start));
  return neutraliseControls(text)
    .split('\n')
    .map((line, index) => ((index === 0 ? start : margin) + line).trimEnd())
    .join('\n');
}

/**
 * A line as lines of at most `columns`, broken at spaces. A longer word, such as an address or a line of code without spaces, is
 * broken between characters. Spaces at a break are dropped; nothing else is.
 */
export function wrapColumns(line: string, columns: number): string[] {
  if (line.length <= columns && columnsOf(line) <= columns) return [line];
  const lines: string[] = [];
  let current = '';
  let used = 0;
  const add = (piece: string, width: number) => {
    current += piece;
    used += width;
  };
  const breakLine = () => {
    lines.push(current);
    current = '';
    used = 0;
  };
  for (const piece of line.match(/\s+|\S+/gu) ?? []) {
    const width = columnsOf(piece);
    if (used + width <= columns) add(piece, width);
    else if (/^\s/u.test(piece)) {
      if (used > 0) breakLine();
    } else {
      if (current.trim() !== '') breakLine();
      if (used + width <= columns) add(piece, width);
      else
        for (const { segment } of graphemes.segment(piece)) {
          const own = columnsOf(segment);
          if (used + own > columns && current !== '') breakLine();
          add(segment, own);
        }
    }
  }
  if (current !== '' || lines.length === 0) breakLine();
  return lines.map((one) => one.trimEnd());
}
