import type { CapturedEvent, DispatchEnvelope } from '@hansard/events';
import { type Row, RowReader } from '@hansard/views';

export type SettlingEvents = Iterable<CapturedEvent> | AsyncIterable<CapturedEvent>;

/** A row of a report can change for longer than one of a terminal, whose reader waits for it. */
const reach = { events: 10_000 };

/** The rows of a dispatch in order, each when it can't change any more. */
export async function* settlingRows(
  { status }: Pick<DispatchEnvelope, 'status'>,
  events: SettlingEvents,
): AsyncGenerator<Row> {
  const reader = new RowReader({ ...reach, hasEnded: status !== 'running' });
  for await (const event of events) {
    reader.add(event);
    yield* reader.settled();
  }
  yield* reader.end();
}
