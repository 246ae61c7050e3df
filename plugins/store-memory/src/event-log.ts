import { isDeepStrictEqual } from 'node:util';
import { type CapturedEvent, StoreError } from '@hansard/provider';

/** The events of one dispatch as lines of JSON, so that every read makes new objects. */
export class EventLog {
  readonly #lines: string[] = [];
  readonly #positions = new Map<string, number>();

  get length(): number {
    return this.#lines.length;
  }

  /** All or none. @throws STORE_EVENT_CONFLICT */
  append(events: readonly CapturedEvent[]): void {
    const added = new Map<string, string>();
    for (const event of events) {
      const line = JSON.stringify(event);
      const known = added.get(event.id) ?? this.#lines[this.#positions.get(event.id) ?? -1];
      if (known === undefined) added.set(event.id, line);
      else if (!hasSameContent(known, line)) throw conflict(event.id);
    }
    for (const [id, line] of added) this.#positions.set(id, this.#lines.push(line) - 1);
  }

  /** The events from position `start` to before `end`. */
  read(start: number, end: number): CapturedEvent[] {
    return this.#lines.slice(start, end).map((line) => JSON.parse(line) as CapturedEvent);
  }
}

/** The same content may come with its keys in another order. */
function hasSameContent(line: string, other: string): boolean {
  return line === other || isDeepStrictEqual(JSON.parse(line), JSON.parse(other));
}

function conflict(eventId: string): StoreError {
  return new StoreError(
    'STORE_EVENT_CONFLICT',
    `Event ${eventId} is in the dispatch already, with other content. Append changed content under a new id.`,
    { details: { eventId } },
  );
}
