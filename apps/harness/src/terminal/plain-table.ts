import { neutraliseControlsInLine } from '@hansard/events/plain';
import { drawTable } from './draw-table.ts';
import type { TableFit } from './table-fit.ts';

/** Characters that are one column wide: those of ASCII, and the sign of an estimate. */
const narrow = /^[ -~≈]*$/;

/** Aligned columns without lines or colours, for `cut` and `grep`. Control characters in cells are made visible. */
export async function plainTable(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  fit: TableFit = { width: undefined, cut: [] },
): Promise<string> {
  const cells = [head, ...rows.map((row) => row.map(neutraliseControlsInLine))];
  if (fit.width === undefined && cells.every((row) => row.every((cell) => narrow.test(cell))))
    return drawTable(cells, ({ length }) => length);
  // Loaded only for wide characters and narrow terminals: this module takes longer to load than the rest of `ls`.
  const { fittedTable } = await import('./fitted-table.ts');
  return fittedTable(cells, fit);
}
