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
