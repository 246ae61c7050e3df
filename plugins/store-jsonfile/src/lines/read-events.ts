import type { CapturedEvent } from '@hansard/events';
import type { EventPage, ReadEventsOptions } from '@hansard/provider';
import { cursorAfterEnd, defaultPageLimit } from '@hansard/store-kit';
import { lineSeparator } from '../disk-format.ts';
import { corrupt } from '../errors.ts';
import { parseEventLine } from './event-line.ts';
import type { PositionIndex } from './position-index.ts';
import { type EventRange, findLastLines, scanLines } from './scan-lines.ts';

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
  const known = positions.nearest(first);
  const events: CapturedEvent[] = [];
  let { position } = known;
  let next = range.start + known.offset;
  scanLines(range, next, (bytes, start, end, offset, isLast) => {
    positions.note(position, offset - range.start);
    if (position >= first) events.push(parse(range, bytes, start, end, offset, isLast));
    position += 1;
    next = offset + (end - start) + (isLast ? lineSeparator.length : 1);
    return events.length < limit;
  });
  if (position < first) throw cursorAfterEnd(after, position);
  positions.moveCursor({ position, offset: next - range.start });
  return { events, first, next: first + events.length - 1 };
}

/** Reads the events from the end. Their positions need the number of events, of which only new ones are counted. */
function readLastEvents(range: EventRange, positions: PositionIndex, last: number): EventPage {
  const count = countEvents(range, positions);
  const events = readRecentEvents(range, Math.min(last, count));
  return { events, first: count - events.length, next: count - 1 };
}

function countEvents(range: EventRange, positions: PositionIndex): number {
  let { position, offset: next } = positions.furthest;
  const length = range.end - range.start;
  if (next > length + lineSeparator.length)
    throw corrupt(range.file.path, range.end, 'the file became shorter');
  scanLines(range, range.start + next, (_, start, end, offset, isLast) => {
    positions.note(position, offset - range.start);
    position += 1;
    next = offset - range.start + (end - start) + (isLast ? lineSeparator.length : 1);
    return true;
  });
  positions.moveEnd({ position, offset: next });
  return position;
}

function readFrom(range: EventRange, from: number): CapturedEvent[] {
  const events: CapturedEvent[] = [];
  scanLines(range, from, (bytes, start, end, offset, isLast) => {
    events.push(parse(range, bytes, start, end, offset, isLast));
    return true;
  });
  return events;
}

function parse(
  range: EventRange,
  bytes: Buffer,
  start: number,
  end: number,
  offset: number,
  isLast: boolean,
): CapturedEvent {
  const event = parseEventLine(bytes, start, end, isLast);
  if (event === null) throw corrupt(range.file.path, offset, 'this line is not an event');
  return event;
}
