import type { CapturedEvent } from '@hansard/events';

/** The reads that finding an event needs. A `DispatchLog` of `@hansard/dispatch` has them. */
export interface AddressedLog {
  count(): Promise<number>;
  /** The events after a position in pages, none of them empty; at most `limit` events in each. */
  pages(options?: { readonly after?: number; readonly limit?: number }): AsyncIterable<{
    /** The position of its first event. */
    readonly first: number;
    readonly events: readonly CapturedEvent[];
  }>;
}

/** The events of a dispatch that are in memory. */
export function addressedEvents(events: readonly CapturedEvent[]): AddressedLog {
  return {
    count: async () => events.length,
    async *pages({ after = -1, limit = 1_000 } = {}) {
      for (let first = after + 1; first < events.length; first += limit)
        yield { first, events: events.slice(first, first + limit) };
    },
  };
}
