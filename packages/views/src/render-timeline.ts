import { type EventLineOptions, renderEventLine } from './render-event-line.ts';
import type { TimelineRow } from './timeline.ts';

/** One line for each event, behind its position. `width`: the most columns of a line. */
export function renderTimeline(
  rows: readonly TimelineRow[],
  { width }: Pick<EventLineOptions, 'width'> = {},
): string {
  const digits = String(rows.at(-1)?.position ?? 0).length;
  return rows
    .map(({ position, line }) => {
      const room = width === undefined ? undefined : width - digits - 2;
      return `${String(position).padStart(digits)}  ${renderEventLine(line, { width: room })}`;
    })
    .join('\n');
}
