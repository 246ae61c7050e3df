import type { CapturedEvent } from '@hansard/events';
import type { RowReach } from '../rows/open-groups.ts';
import { listsOf, type RowSource, readRows } from '../rows/read-rows.ts';
import type { Row } from '../rows/row.ts';
import type { EventFilter } from './event-filter.ts';

/**
 * The rows of a dispatch that pass a filter, while its events are read. A row passes if each criterion is met by one of its
 * events: of a call that failed, the input can contain the text, and the result be the failure.
 */
export async function* filterRows(
  source: RowSource,
  filter: EventFilter,
  reach: RowReach = {},
): AsyncGenerator<Row, undefined> {
  if (filter.isOpen) {
    yield* readRows(source, reach);
    return;
  }
  /** Of the events that are not in a complete row. */
  const met = new Map<number, number>();
  for await (const row of readRows(noted(source, filter, met), reach)) {
    if (filter.passTogether(row.events.map((position) => met.get(position) ?? 0))) yield row;
    for (const position of row.events) met.delete(position);
  }
}

async function* noted(
  source: RowSource,
  filter: EventFilter,
  met: Map<number, number>,
): AsyncGenerator<Iterable<CapturedEvent>> {
  let position = 0;
  for await (const events of listsOf(source)) {
    const page = [...events];
    for (const event of page) {
      met.set(position, filter.metBy(event));
      position += 1;
    }
    yield page;
  }
}
