import type { CapturedEvent } from '@hansard/events';
import type { RowReach } from './open-groups.ts';
import type { Row } from './row.ts';
import type { RowChoice } from './row-query.ts';
import { RowReader, type RowReaderOptions } from './row-reader.ts';

/** The rows of a dispatch, given all its events in append order. Every row stays open up to the end. */
export function rowsOf(events: Iterable<CapturedEvent>, reach: RowReach = unlimited): Row[] {
  const reader = new RowReader(reach);
  for (const event of events) reader.add(event);
  return reader.end();
}

/** What rows are read from: the log of a dispatch, such as a `DispatchLog`, or the lists of its events. */
export type RowSource =
  | { pages(): AsyncIterable<{ readonly events: Iterable<CapturedEvent> }> }
  | AsyncIterable<Iterable<CapturedEvent>>;

export interface RowsReading extends RowReaderOptions {
  /** The only positions whose events are read: the rows of a branch do not have those of others. Absent: all. */
  readonly only?: ReadonlySet<number> | undefined;
}

/**
 * The rows of a dispatch of any length, while its events are read. Each row is complete when it is given. `choice`: only rows that it chooses are
 * made.
 */
export async function* readRows(
  source: RowSource,
  { only, ...reach }: RowsReading = {},
  choice?: RowChoice,
): AsyncGenerator<Row, undefined> {
  const reader = new RowReader(reach);
  let position = reach.first ?? 0;
  for await (const events of listsOf(source)) {
    for (const event of events) {
      if (only === undefined || only.has(position)) reader.add(event);
      else reader.pass(event);
      position += 1;
      const rows = reader.settled(choice);
      // Most events settle no row, and a delegation to no rows costs as much as the event.
      if (rows.length > 0) yield* rows;
    }
  }
  yield* reader.end(choice);
}

/** The events of a source, list by list. */
export async function* listsOf(source: RowSource): AsyncGenerator<Iterable<CapturedEvent>, undefined> {
  if (!('pages' in source)) yield* source;
  else for await (const { events } of source.pages()) yield events;
}

const unlimited: RowReach = { events: Number.POSITIVE_INFINITY, characters: Number.POSITIVE_INFINITY };
