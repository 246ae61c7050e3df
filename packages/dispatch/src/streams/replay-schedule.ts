/** The speed of a replay: without waiting, as recorded, or faster by this factor. */
export type ReplayPace = 'fast' | 'original' | number;

/** How long each event of a log waits for its turn after the one before, by their timestamps. */
export class ReplaySchedule {
  readonly #factor: number;
  readonly #maxGapMs: number;
  #latest: number | null = null;

  constructor(pace: ReplayPace, maxGapMs: number) {
    this.#factor = pace === 'original' ? 1 : pace === 'fast' ? Number.POSITIVE_INFINITY : pace;
    this.#maxGapMs = maxGapMs;
  }

  /** In milliseconds of the replay. An event that is older than its predecessor, or whose time is not recorded, does not wait and does not delay the events after it. */
  gapBefore(timestamp: string | null): number {
    const time = timestamp === null ? Number.NaN : Date.parse(timestamp);
    if (Number.isNaN(time)) return 0;
    const gap = this.#latest === null ? 0 : Math.max(0, time - this.#latest);
    this.#latest = Math.max(time, this.#latest ?? time);
    return Math.min(gap / this.#factor, this.#maxGapMs);
  }
}
