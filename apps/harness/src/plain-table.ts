import { neutraliseControlsInLine } from '@hansard/views';
import Table from 'cli-table3';

/** Aligned columns without lines or colours, so that the output can be cut and grepped. No terminal obeys a cell. */
export function plainTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const none = {
    top: '',
    'top-mid': '',
    'top-left': '',
    'top-right': '',
    bottom: '',
    'bottom-mid': '',
    'bottom-left': '',
    'bottom-right': '',
  };
  const table = new Table({
    head: [...head],
    chars: {
      ...none,
      left: '',
      'left-mid': '',
      mid: '',
      'mid-mid': '',
      right: '',
      'right-mid': '',
      middle: '  ',
    },
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0 },
  });
  for (const row of rows) table.push(row.map(neutraliseControlsInLine));
  return table.toString().replace(/ +$/gm, '');
}
