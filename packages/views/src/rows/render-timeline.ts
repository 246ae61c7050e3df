import { dayHeading } from '@hansard/facts';
import type { TimelineRow } from '../task/task-timeline.ts';
import type { Ink } from './ink.ts';
import { type RenderLineOptions, renderLine } from './render-line.ts';

/** The width of a column of positions. */
const positionColumns = 4;

/**
 * One line for each event, starting with its position. Each day (UTC) is on a line of its own before its first event. `role`: how a row
 * names its dispatch, where there are several; `width`: the largest width of a line in columns; `paint`: adds colours, absent: none.
 */
export async function* renderTimeline(
  rows: Iterable<TimelineRow> | AsyncIterable<TimelineRow>,
  {
    width,
    role,
    paint = (_, text) => text,
  }: Pick<RenderLineOptions, 'width'> & {
    readonly role?: (row: TimelineRow) => string;
    readonly paint?: (ink: Ink, text: string) => string;
  } = {},
): AsyncGenerator<string> {
  let day = '';
  for await (const row of rows) {
    const heading = dayHeading(row.event.timestamp, day);
    if (heading !== null) yield paint('dim', heading);
    day = heading ?? day;
    const address = `${String(row.position).padStart(positionColumns)}  `;
    const room = width === undefined ? undefined : Math.max(1, width - address.length);
    yield paint('position', address) + renderLine(row.words, { width: room, role: role?.(row), paint });
  }
}
