import type { Clock } from '@hansard/provider';

/** Time that passes only when a test says so. */
export class ManualClock implements Clock {
  /** The wall clock, which can jump. */
  wall = 1_000_000;
  #time = 0;
  readonly #timers = new Set<{ readonly at: number; readonly action: () => void }>();

  /** The number of timers that wait. */
  get pending(): number {
    return this.#timers.size;
  }

  now(): number {
    return this.wall;
  }

  monotonic(): number {
    return this.#time;
  }

  after(ms: number, action: () => void): () => void {
    const timer = { at: this.#time + ms, action };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  advance(ms: number): void {
    this.#time += ms;
    this.wall += ms;
    for (const timer of [...this.#timers]) {
      if (timer.at > this.#time) continue;
      this.#timers.delete(timer);
      timer.action();
    }
  }
}
