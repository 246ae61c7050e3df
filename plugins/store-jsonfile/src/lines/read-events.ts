import type { CapturedEvent } from '@hansard/events';
import type { EventPage, ReadEventsOptions } from '@hansard/provider';
import { cursorAfterEnd, defaultPageLimit, mostPageBytes } from '@hansard/store-kit';
import { lineSeparator } from '../disk-format.ts';
import { parseEventBytes } from './event-line.ts';
import { damagedLine } from './inspect-lines.ts';
import type { EventRange } from './open-file.ts';
import type { PositionIndex } from './position-index.ts';
import { findLastLines, type ScannedLine, scanLines } from './scan-lines.ts';

export function readAllEvents(range: EventRange): CapturedEvent[] {
  return readFrom(range, range.start + 1);
}

export function readRecentEvents(range: EventRange, count: number): CapturedEvent[] {
  return count > 0 ? readFrom(range, findLastLines(range, count)) : [];
}

/** Reads a page, beginning at the nearest known line, and records the lines on the way. @throws STORE_INVALID_CURSOR */
export function readEventPage(
  range: EventRange,
  positions: PositionIndex,
  { after = -1, limit = defaultPageLimit, last }: ReadEventsOptions,
): EventPage {
  if (last !== undefined) return readLastEvents(range, positions, last);
  const first = after + 1;
  // Who follows a log asks for what comes after its end, and that needs no line of the file.
  if (first === range.count) return { events: [], first, next: after };
  const events: CapturedEvent[] = [];
  let { position, next } = placeFor(range, positions, first);
  let bytes = 0;
  scanLines(range, next, (line) => {
    if (position >= first) {
      bytes += line.end - line.start;
      if (bytes > mostPageBytes && events.length > 0) return false;
      events.push(parseLine(range, line));
    }
    positions.note(position, line.offset - range.start);
    position += 1;
    next = line.next;
    return events.length < limit;
  });
  if (position < first) throw cursorAfterEnd(after, position);
  positions.moveCursor({ position, offset: next - range.start });
  return { events, first, next: first + events.length - 1 };
}

/** The known line that is nearest to a position, at or before it, or the line itself if it is nearer to the end. */
function placeFor(
  range: EventRange,
  positions: PositionIndex,
  first: number,
): { readonly position: number; readonly next: number } {
  const { position, offset } = positions.nearest(first);
  const { count } = range;
  if (count === null || first >= count || count - first >= first - position)
    return { position, next: range.start + offset };
  return { position: first, next: findLastLines(range, count - first) };
}

/** Reads the events from the end. Their positions need the number of events, of which only new ones are counted. */
function readLastEvents(range: EventRange, positions: PositionIndex, last: number): EventPage {
  const count = range.count ?? countEvents(range, positions);
  const events = readRecentEvents(range, Math.min(last, count));
  return { events, first: count - events.length, next: count - 1 };
}

function countEvents(range: EventRange, positions: PositionIndex): number {
  let { position, offset: next } = positions.furthest;
  const length = range.end - range.start;
  if (next > length + lineSeparator.length) throw damagedLine(range, range.end, 'the file became shorter');
  scanLines(range, range.start + next, (line) => {
    positions.note(position, line.offset - range.start);
    position += 1;
    next = line.next - range.start;
    return true;
  });
  positions.moveEnd({ position, offset: next });
  return position;
}

function readFrom(range: EventRange, from: number): CapturedEvent[] {
  const events: CapturedEvent[] = [];
  scanLines(range, from, (line) => {
    events.push(parseLine(range, line));
    return true;
  });
  return events;
}

/** @throws STORE_CORRUPT if the line is not an event */
export function parseLine(range: EventRange, { bytes, start, end, offset }: ScannedLine): CapturedEvent {
  const event = parseEventBytes(bytes, start, end);
  if (event === null) throw damagedLine(range, offset, 'this line is not an event');
  return event;
}
