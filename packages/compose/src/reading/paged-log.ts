import { setImmediate as nextTurn } from 'node:timers/promises';
import { type DispatchLog, HeapRestraint } from '@hansard/dispatch';
import type { CapturedEvent, DispatchEnvelope } from '@hansard/events';
import type { AddressedLog } from '@hansard/views';

/** A session whose events are read page by page. */
export interface PagedLog extends AddressedLog {
  readonly envelope: DispatchEnvelope;
}

/**
 * Reads a stored session with little memory, so that `signal` can end a long reading between two pages, with its reason. `onRead`
 * receives each page.
 */
export function pagedLog(
  log: DispatchLog,
  signal?: AbortSignal,
  onRead: (events: readonly CapturedEvent[]) => void = () => {},
): PagedLog {
  return {
    envelope: log.envelope,
    count: () => log.count(),
    async *pages(options) {
      using heap = new HeapRestraint();
      for await (const page of log.pages(options)) {
        // A synchronous store would keep signals waiting until the end.
        await nextTurn(undefined, signal === undefined ? {} : { signal });
        heap.hold();
        onRead(page.events);
        yield page;
      }
    },
  };
}
