import { columnsOf } from './columns.ts';
import { neutraliseControls } from './neutralise-controls.ts';

/** A text behind its start, its further lines below its first. The text is made harmless; the start already is. */
export function hangingLines(start: string, text: string): string {
  const margin = ' '.repeat(columnsOf(start));
  return neutraliseControls(text)
    .split('\n')
    .map((line, index) => ((index === 0 ? start : margin) + line).trimEnd())
    .join('\n');
}
