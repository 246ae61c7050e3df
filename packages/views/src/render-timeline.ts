import { type EventLineOptions, renderEventLine } from './render-event-line.ts';
import type { TimelineRow } from './timeline.ts';

/** One line for each event, behind its position. `width`: the most columns of a line. */
export function renderTimeline(
  rows: readonly TimelineRow[],
  { width }: Pick<EventLineOptions, 'width'> = {},
): string {
  const last = rows.reduce((most, { position }) => Math.max(most, position), 0);
  const digits = String(last).length;
  return rows
    .map(({ position, line, role }) => {
      const room = width === undefined ? undefined : width - digits - 2;
      return `${String(position).padStart(digits)}  ${renderEventLine(line, { width: room, role })}`;
    })
    .join('\n');
}
