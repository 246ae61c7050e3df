import { neutraliseControlsInLine } from '@hansard/events/plain';
import { drawTable } from './draw-table.ts';
import { fittedTable, type Measure } from './fitted-table.ts';
import type { TableFit } from './table-fit.ts';

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
