import { neutraliseControlsInLine } from '@hansard/views/basics';
import { drawTable } from './draw-table.ts';
import type { TableFit } from './table-fit.ts';

/** Characters that are one column wide: those of ASCII, and the sign of an estimate. */
const narrow = /^[ -~≈]*$/;

/** Aligned columns without lines or colours, so that the output can be cut and grepped. No terminal obeys a cell. */
export async function plainTable(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  fit: TableFit = { width: undefined, cut: [] },
): Promise<string> {
  const cells = [head, ...rows.map((row) => row.map(neutraliseControlsInLine))];
  if (fit.width === undefined && cells.every((row) => row.every((cell) => narrow.test(cell))))
    return drawTable(cells, ({ length }) => length);
  // What measures other characters and cuts cells takes longer to load than all else that lists tasks.
  const { fittedTable } = await import('./fitted-table.ts');
  return fittedTable(cells, fit);
}
