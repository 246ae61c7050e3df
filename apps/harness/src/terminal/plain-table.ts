import { neutraliseControlsInLine } from '@hansard/events/plain';

/** Columns between columns. */
const tableGap = 2;

/** Characters that are one column wide: those of ASCII, and the signs that listings use. */
const narrow = /^[ -~≈↳…–]*$/;

/** Measures text of narrow characters. */
const ofNarrow: Measure = {
  columnsOf: ({ length }) => length,
  fitColumns(text, columns, keep = 'start') {
    if (text.length <= columns) return text;
    if (columns <= 1) return '…'.slice(0, columns);
    return keep === 'start'
      ? `${text.slice(0, columns - 1).trimEnd()}…`
      : `…${text.slice(1 - columns).trimStart()}`;
  },
};

/** Aligned columns without lines or colours, for `cut` and `grep`. Control characters in cells are made visible. */
export async function plainTable(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  fit: TableFit = { width: undefined, cut: [] },
): Promise<string> {
  const cells = [head, ...rows.map((row) => row.map(neutraliseControlsInLine))];
  // Loaded only for wide characters: this module takes longer to load than the rest of `ls`.
  const measure = cells.every((row) => row.every((cell) => narrow.test(cell)))
    ? ofNarrow
    : await import('@hansard/views');
  return fit.width === undefined ? drawTable(cells, measure.columnsOf) : fittedTable(cells, fit, measure);
}

const leastWorth = 8;

/** How wide text is, and how it is cut. */
interface Measure {
  columnsOf(text: string): number;
  fitColumns(text: string, columns: number, keep?: 'start' | 'end'): string;
}

/**
 * A table of text cells, the head first, at most `columns` characters wide (undefined: no limit). To fit, empty columns are
 * removed first; then cells are cut. A first cell that leaves no room for the others has its own line and is never cut,
 * because the reader passes it to the next command.
 */
function fittedTable(
  [head = [], ...rows]: readonly (readonly string[])[],
  { width, cut }: TableFit,
  { columnsOf, fitColumns }: Measure,
): string {
  if (width === undefined) return drawTable([head, ...rows], columnsOf);
  const hasText = head.map((_, index) => rows.some((row) => row[index] !== ''));
  const shown = [head, ...rows].map((row) => row.filter((_, index) => hasText[index]));
  for (const { column, least, keep } of cut) {
    const index = shown[0]?.indexOf(column) ?? -1;
    if (index < 0) continue;
    const widths = columnWidths(shown, columnsOf);
    const room = Math.max(least, width - tableWidth(widths) + (widths[index] ?? 0));
    const isWorthIt = least > 0 || room >= Math.min(leastWorth, widths[index] ?? 0);
    for (const row of shown)
      row.splice(index, 1, ...(isWorthIt ? [fitColumns(row[index] ?? '', room, keep)] : []));
  }
  const widths = columnWidths(shown, columnsOf);
  return tableWidth(widths) <= width
    ? drawTable(shown, columnsOf)
    : drawOnTwoLines(shown, widths, width, columnsOf);
}

function drawOnTwoLines(
  rows: readonly (readonly string[])[],
  widths: readonly number[],
  width: number,
  columnsOf: Measure['columnsOf'],
): string {
  const room = Math.max(0, width - (tableWidth(widths) - (widths[0] ?? 0)));
  const isTooLong = ([first = '']: readonly string[]) => columnsOf(first) > room;
  const lines = drawTable(
    rows.map((row) => (isTooLong(row) ? ['', ...row.slice(1)] : row)),
    columnsOf,
  ).split('\n');
  return rows.flatMap((row, index) => [...(isTooLong(row) ? row.slice(0, 1) : []), lines[index]]).join('\n');
}

function tableWidth(widths: readonly number[]): number {
  return widths.reduce((sum, width) => sum + width + tableGap, -tableGap);
}

/** Rows as aligned columns without lines or colours. `columnsOf` measures a cell. */
function drawTable(rows: readonly (readonly string[])[], columnsOf: (cell: string) => number): string {
  const widths = columnWidths(rows, columnsOf);
  const pad = (cell: string, index: number) =>
    cell + ' '.repeat((widths[index] ?? 0) - columnsOf(cell) + tableGap);
  return rows.map((row) => row.map(pad).join('').trimEnd()).join('\n');
}

/** The width of each column: that of its widest cell. */
function columnWidths(rows: readonly (readonly string[])[], columnsOf: (cell: string) => number): number[] {
  const [head = []] = rows;
  return head.map((_, index) =>
    rows.reduce((widest, row) => Math.max(widest, columnsOf(row[index] ?? '')), 0),
  );
}

interface TableFit {
  /** The columns of the terminal; undefined: no limit. */
  readonly width: number | undefined;
  /**
   * The columns that are cut if the rows do not fit, in this order, each to at least this width. A column with a least
   * width of 0 is removed when it would become unreadable.
   */
  readonly cut: readonly {
    readonly column: string;
    readonly least: number;
    readonly keep?: 'start' | 'end';
  }[];
}
