import { neutraliseControls } from '@hansard/events/plain';
import { columnsOf } from './columns.ts';

/** A text after a start, with its further lines indented below its first. Neutralises the text; the start must be neutralised. */
export function hangingLines(start: string, text: string): string {
  const margin = ' '.repeat(columnsOf(start));
  return neutraliseControls(text)
    .split('\n')
    .map((line, index) => ((index === 0 ? start : margin) + line).trimEnd())
    .join('\n');
}
