import { columnsOf } from './columns.ts';

const graphemes = new Intl.Segmenter();

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
