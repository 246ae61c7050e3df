import { newDays } from '../text/new-days.ts';
import { type EventLineOptions, renderEventLine } from './render-event-line.ts';
import type { TimelineRow } from './timeline.ts';

/**
 * One line for each event, starting with its position. If the events are of several days (UTC), each day is on a line of its
 * own before its first event. `width`: the largest width of a line in columns.
 */
export function renderTimeline(
  rows: readonly TimelineRow[],
  { width }: Pick<EventLineOptions, 'width'> = {},
): string {
  const last = rows.reduce((most, { position }) => Math.max(most, position), 0);
  const digits = String(last).length;
  const days = newDays(rows.map(({ event }) => event.timestamp));
  return rows
    .flatMap(({ position, line, role }, index) => {
      const room = width === undefined ? undefined : width - digits - 2;
      return [
        days[index] ?? '',
        `${String(position).padStart(digits)}  ${renderEventLine(line, { width: room, role })}`,
      ];
    })
    .filter((line) => line !== '')
    .join('\n');
}
