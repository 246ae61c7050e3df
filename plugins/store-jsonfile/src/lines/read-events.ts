import type { CapturedEvent } from '@hansard/events';
import { type EventPage, type ReadEventsOptions, StoreError } from '@hansard/provider';
import { corrupt } from '../errors.ts';
import { parseEventLine } from './event-line.ts';
import type { PositionIndex } from './position-index.ts';
import { type EventRange, findLastLines, scanLines } from './scan-lines.ts';

const defaultLimit = 1_000;

export function readAllEvents(range: EventRange): CapturedEvent[] {
  return readFrom(range, range.start + 1);
}

export function readRecentEvents(range: EventRange, count: number): CapturedEvent[] {
  return count > 0 ? readFrom(range, findLastLines(range, count)) : [];
}

/** Reads a page from the nearest line that is known, and notes what lies on the way. @throws STORE_INVALID_CURSOR */
export function readEventPage(
  range: EventRange,
  positions: PositionIndex,
  { after = -1, limit = defaultLimit, last }: ReadEventsOptions,
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
    next = offset + (end - start) + (isLast ? ',\n'.length : 1);
    return events.length < limit;
  });
  if (position < first) {
    throw new StoreError(
      'STORE_INVALID_CURSOR',
      `There is no event ${after} to read on from: the dispatch has ${position} events (0 to ${position - 1}).`,
      { details: { after, count: position } },
    );
  }
  positions.moveCursor({ position, offset: next - range.start });
  return { events, first, next: first + events.length - 1 };
}

/** The events are read from the end; their positions need the number of lines, of which only new ones are counted. */
function readLastEvents(range: EventRange, positions: PositionIndex, last: number): EventPage {
  const count = countEvents(range, positions);
  const events = readRecentEvents(range, Math.min(last, count));
  return { events, first: count - events.length, next: count - 1 };
}

function countEvents(range: EventRange, positions: PositionIndex): number {
  let { position, offset: next } = positions.furthest;
  const length = range.end - range.start;
  if (next > length + ',\n'.length) throw corrupt(range.file, range.end, 'the file became shorter');
  scanLines(range, range.start + next, (_, start, end, offset, isLast) => {
    positions.note(position, offset - range.start);
    position += 1;
    next = offset - range.start + (end - start) + (isLast ? ',\n'.length : 1);
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
  if (event === null) throw corrupt(range.file, offset, 'this line is not an event');
  return event;
}
