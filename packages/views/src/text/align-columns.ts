import { columnsOf, padColumns } from './columns.ts';

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
