import { setImmediate as nextTurn } from 'node:timers/promises';
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import type { DispatchLog } from '@hansard/dispatch';
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

const largestYoungGeneration = 16 * 1024 * 1024;
const usualGrowthOfYoung = 2;
const growthOfOldPercent = 30;
/** V8's default. */
const anyGrowth = 0;

/**
 * Limits the heap during an import. An import keeps little of what it reads, but V8 lets the young generation grow to 128 MB;
 * 16 MB take no more time. The old generation is also collected earlier. An import of 1 GB has 160 to 173 MB resident with
 * these limits, and 167 to 224 MB without the second one.
 */
export class HeapRestraint implements Disposable {
  #isYoungHeld = false;

  constructor() {
    setFlagsFromString(`--heap-growing-percent=${growthOfOldPercent}`);
  }

  /** Call it repeatedly: when the young generation is large enough, its size is fixed until this is disposed. */
  hold(): void {
    if (this.#isYoungHeld) return;
    const young = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space');
    if (young === undefined || young.space_size < largestYoungGeneration) return;
    setFlagsFromString('--semi-space-growth-factor=1');
    this.#isYoungHeld = true;
  }

  [Symbol.dispose](): void {
    setFlagsFromString(`--heap-growing-percent=${anyGrowth}`);
    if (this.#isYoungHeld) setFlagsFromString(`--semi-space-growth-factor=${usualGrowthOfYoung}`);
    this.#isYoungHeld = false;
  }
}
