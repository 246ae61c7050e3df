/**
 * A browser has six connections for one address, over all of its tabs, and a request beyond them waits without end. So only a few streams stay
 * open: a new one ends the oldest, whose page continues a second later and ends another one. With more pages than places, each has its turn.
 */
export class StreamPlaces {
  readonly #most: number;
  readonly #open = new Set<AbortController>();

  constructor(most: number) {
    this.#most = most;
  }

  /** Runs until the work returns. The signal of the work aborts when a newer stream needs its place, or by `ending.abort()`. */
  async hold(ending: AbortController, work: (signal: AbortSignal) => Promise<void>): Promise<void> {
    this.#open.add(ending);
    for (const oldest of this.#open) {
      if (this.#open.size <= this.#most) break;
      this.#open.delete(oldest);
      oldest.abort();
    }
    try {
      await work(ending.signal);
    } finally {
      this.#open.delete(ending);
    }
  }
}
