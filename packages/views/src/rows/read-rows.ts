import type { CapturedEvent } from '@hansard/events';
import type { RowReach } from './open-groups.ts';
import type { Row } from './row.ts';
import { RowReader } from './row-reader.ts';

/** The rows of a dispatch, given all its events in append order. Every row stays open up to the end. */
export function rowsOf(events: Iterable<CapturedEvent>, reach: RowReach = unlimited): Row[] {
  const reader = new RowReader(reach);
  for (const event of events) reader.add(event);
  return reader.end();
}

/** The rows of a dispatch of any length, while its events are read. Each row is complete when it is given. */
export async function* readRows(
  pages: AsyncIterable<Iterable<CapturedEvent>>,
  reach: RowReach = {},
): AsyncGenerator<Row> {
  const reader = new RowReader(reach);
  for await (const events of pages) {
    for (const event of events) {
      reader.add(event);
      yield* reader.settled();
    }
  }
  yield* reader.end();
}

const unlimited: RowReach = { events: Number.POSITIVE_INFINITY, characters: Number.POSITIVE_INFINITY };
