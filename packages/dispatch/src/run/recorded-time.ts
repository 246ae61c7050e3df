import type { CapturedEvent } from '@hansard/events';

/** The time that a recording has reached while it is played. What the harness adds to the recording gets this time. */
export class RecordedTime {
  #latest: number;

  /** RFC 3339. */
  constructor(start: string) {
    this.#latest = Date.parse(start);
  }

  now(): number {
    return this.#latest;
  }

  observe({ timestamp }: CapturedEvent): void {
    if (timestamp !== null) this.#latest = Math.max(this.#latest, Date.parse(timestamp));
  }
}
