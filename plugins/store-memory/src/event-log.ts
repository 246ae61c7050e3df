import type { CapturedEvent, DispatchRewrite } from '@hansard/provider';
import { eventConflict, hasSameContent } from '@hansard/store-kit';

/** The events of one dispatch as lines of JSON, so that every read creates new objects. */
export class EventLog {
  readonly #lines: string[] = [];
  readonly #positions = new Map<string, number>();

  get length(): number {
    return this.#lines.length;
  }

  /** All or none. @returns the position of each event @throws STORE_EVENT_CONFLICT */
  append(events: readonly CapturedEvent[]): number[] {
    const added = new Map<string, string>();
    for (const event of events) {
      const line = JSON.stringify(event);
      const stored = added.get(event.id) ?? this.#lines[this.#positions.get(event.id) ?? -1];
      if (stored === undefined) added.set(event.id, line);
      else if (!hasSameContent(stored, line)) throw eventConflict(event.id);
    }
    for (const [id, line] of added) this.#positions.set(id, this.#lines.push(line) - 1);
    return events.map(({ id }) => this.#positions.get(id) as number);
  }

  /** A log with the new forms of the events, and the notice. */
  rewritten({ event, notice }: Pick<DispatchRewrite, 'event' | 'notice'>): EventLog {
    const log = new EventLog();
    for (const line of this.#lines) log.append([event(JSON.parse(line) as CapturedEvent)]);
    log.append([notice()]);
    return log;
  }

  /** The events from position `start` to before `end`. */
  read(start: number, end: number): CapturedEvent[] {
    return this.#lines.slice(start, end).map((line) => JSON.parse(line) as CapturedEvent);
  }
}
