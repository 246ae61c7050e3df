import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';

const largestYoungGeneration = 16 * 1024 * 1024;
const usualGrowth = 2;

/**
 * Keeps V8 from collecting garbage ever more seldom. An import keeps next to nothing of what it reads, yet each batch that
 * happens to be alive makes the young generation grow, up to 128 MB of garbage; an eighth of it takes no more time.
 */
export class YoungGeneration implements Disposable {
  #isHeld = false;

  /** To be called now and then: once it is large enough, it stays so until this is disposed. */
  hold(): void {
    if (this.#isHeld) return;
    const young = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space');
    if (young === undefined || young.space_size < largestYoungGeneration) return;
    setFlagsFromString('--semi-space-growth-factor=1');
    this.#isHeld = true;
  }

  [Symbol.dispose](): void {
    if (this.#isHeld) setFlagsFromString(`--semi-space-growth-factor=${usualGrowth}`);
    this.#isHeld = false;
  }
}
