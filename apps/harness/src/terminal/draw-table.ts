/** Columns between columns. */
export const tableGap = 2;

/** Rows as aligned columns without lines or colours. `columnsOf` measures a cell. */
export function drawTable(rows: readonly (readonly string[])[], columnsOf: (cell: string) => number): string {
  const widths = columnWidths(rows, columnsOf);
  const pad = (cell: string, index: number) =>
    cell + ' '.repeat((widths[index] ?? 0) - columnsOf(cell) + tableGap);
  return rows.map((row) => row.map(pad).join('').trimEnd()).join('\n');
}

/** The width of each column: that of its widest cell. */
export function columnWidths(
  rows: readonly (readonly string[])[],
  columnsOf: (cell: string) => number,
): number[] {
  const [head = []] = rows;
  return head.map((_, index) =>
    rows.reduce((widest, row) => Math.max(widest, columnsOf(row[index] ?? '')), 0),
  );
}
