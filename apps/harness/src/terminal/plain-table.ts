import { columnsOf, fitColumns, neutraliseControlsInLine } from '@hansard/views';
import Table from 'cli-table3';

const gap = 2;
const leastWorth = 8;

const noLines = {
  top: '',
  'top-mid': '',
  'top-left': '',
  'top-right': '',
  bottom: '',
  'bottom-mid': '',
  'bottom-left': '',
  'bottom-right': '',
  left: '',
  'left-mid': '',
  mid: '',
  'mid-mid': '',
  right: '',
  'right-mid': '',
  middle: ' '.repeat(gap),
};

interface TableFit {
  /** The columns of the terminal; undefined: as many as it needs. */
  readonly width: number | undefined;
  /**
   * Which cells are cut where the rows do not fit, by the name of their column: in this order, to no less than this. A
   * column that may be cut to nothing goes as a whole before it says nothing.
   */
  readonly cut: readonly {
    readonly column: string;
    readonly least: number;
    readonly keep?: 'start' | 'end';
  }[];
}

/**
 * Aligned columns without lines or colours, so that the output can be cut and grepped. No terminal obeys a cell. To fit,
 * columns in which nothing stands go first; then cells are cut; and a first cell that leaves the others no room stands
 * whole on a line of its own, for it is what one goes on with.
 */
export function plainTable(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  { width, cut }: TableFit = { width: undefined, cut: [] },
): string {
  const harmless = rows.map((row) => row.map(neutraliseControlsInLine));
  if (width === undefined) return draw([head, ...harmless]);
  const said = head.map((_, index) => harmless.some((row) => row[index] !== ''));
  const shown = [head, ...harmless].map((row) => row.filter((_, index) => said[index]));
  for (const { column, least, keep } of cut) {
    const index = shown[0]?.indexOf(column) ?? -1;
    if (index < 0) continue;
    const room = Math.max(least, width - widthOf(shown) + columnWidth(shown, index));
    const isWorthIt = least > 0 || room >= leastWorth;
    for (const row of shown)
      row.splice(index, 1, ...(isWorthIt ? [fitColumns(row[index] ?? '', room, keep)] : []));
  }
  return widthOf(shown) <= width ? draw(shown) : drawOnTwoLines(shown, width);
}

function drawOnTwoLines(rows: readonly (readonly string[])[], width: number): string {
  const room = Math.max(0, width - (widthOf(rows) - columnWidth(rows, 0)));
  const isTooLong = ([first = '']: readonly string[]) => columnsOf(first) > room;
  const lines = draw(rows.map((row) => (isTooLong(row) ? ['', ...row.slice(1)] : row))).split('\n');
  return rows.flatMap((row, index) => [...(isTooLong(row) ? row.slice(0, 1) : []), lines[index]]).join('\n');
}

function draw(rows: readonly (readonly string[])[]): string {
  const table = new Table({
    chars: noLines,
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0 },
  });
  for (const row of rows) table.push([...row]);
  return table.toString().replace(/ +$/gm, '');
}

function widthOf(rows: readonly (readonly string[])[]): number {
  const [head = []] = rows;
  return head.reduce((sum, _, index) => sum + columnWidth(rows, index) + gap, -gap);
}

function columnWidth(rows: readonly (readonly string[])[], index: number): number {
  return rows.reduce((widest, row) => Math.max(widest, columnsOf(row[index] ?? '')), 0);
}
