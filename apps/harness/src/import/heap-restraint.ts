import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';

const largestYoungGeneration = 16 * 1024 * 1024;
const usualGrowthOfYoung = 2;
const growthOfOldPercent = 30;
/** V8 decides by itself. */
const anyGrowth = 0;

/**
 * Keeps V8 from collecting garbage ever more seldom. An import keeps next to nothing of what it reads, yet each batch that
 * happens to be alive makes the young generation grow, up to 128 MB of garbage; an eighth of it takes no more time. What gets
 * old that way is collected soon, too: with 1 GB imported, 160 to 173 MB are resident; without that it was 167 to 224.
 */
export class HeapRestraint implements Disposable {
  #isYoungHeld = false;

  constructor() {
    setFlagsFromString(`--heap-growing-percent=${growthOfOldPercent}`);
  }

  /** To be called now and then: once the young generation is large enough, it stays so until this is disposed. */
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
