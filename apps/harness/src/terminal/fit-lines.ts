import { neutraliseControls } from '@hansard/events/plain';
import { wrapColumns } from '@hansard/views';

/** How much further in a line is continued, in columns. */
const continued = 4;

/** A harmless text whose lines fit a width: they are broken at words, and continued further in. */
export function fitLines(text: string, width: number): string {
  return neutraliseControls(text)
    .split('\n')
    .flatMap((line) => fitLine(line, width))
    .join('\n');
}

function fitLine(line: string, width: number): readonly string[] {
  const [first = '', ...rest] = wrapColumns(line, width);
  if (rest.length === 0) return [line];
  const margin = ' '.repeat(Math.min(line.search(/\S/) + continued, Math.floor(width / 2)));
  const others = wrapColumns(line.slice(first.length).trimStart(), width - margin.length);
  return [first, ...others.map((other) => margin + other)];
}
