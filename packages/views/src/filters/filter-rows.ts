import type { CapturedEvent } from '@hansard/events';
import { listsOf, type RowSource, type RowsReading, readRows } from '../rows/read-rows.ts';
import type { Row } from '../rows/row.ts';
import type { EventFilter } from './event-filter.ts';

/**
 * The rows of a dispatch that pass a filter, while its events are read. A row passes if each criterion is met by one of its
 * events: of a call that failed, the input can contain the text, and the result be the failure. Only rows that pass are made.
 */
export function filterRows(
  source: RowSource,
  filter: EventFilter,
  reach: RowsReading = {},
): AsyncGenerator<Row, undefined> {
  if (filter.isOpen) return readRows(source, reach);
  /** Of the events that are not in a complete row. */
  const met = new Map<number, number>();
  return readRows(noted(source, filter, met, reach.first), reach, {
    couldMatch({ events }) {
      const passes = filter.passTogether(events.map((position) => met.get(position) ?? 0));
      for (const position of events) met.delete(position);
      return passes;
    },
    matches: () => true,
  });
}

async function* noted(
  source: RowSource,
  filter: EventFilter,
  met: Map<number, number>,
  first = 0,
): AsyncGenerator<Iterable<CapturedEvent>> {
  let position = first;
  for await (const events of listsOf(source)) {
    const page = [...events];
    for (const event of page) {
      met.set(position, filter.metBy(event));
      position += 1;
    }
    yield page;
  }
}
