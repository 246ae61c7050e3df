import type { Clock } from '@hansard/provider';

export const startOfTest = Date.UTC(2026, 2, 1, 9, 0, 0);

interface Timer {
  readonly due: number;
  readonly action: () => void;
}

/** A clock that stands still until a test advances it. */
export class ManualClock implements Clock {
  #elapsed = 0;
  #correction = 0;
  #timers: Timer[] = [];
  #set = 0;
  #waiting: { readonly count: number; readonly resolve: () => void }[] = [];

  /** How many timers wait. */
  get timers(): number {
    return this.#timers.length;
  }

  now(): number {
    return startOfTest + this.#elapsed + this.#correction;
  }

  monotonic(): number {
    return this.#elapsed;
  }

  after(ms: number, action: () => void): () => void {
    const timer = { due: this.#elapsed + ms, action };
    this.#timers.push(timer);
    this.#set += 1;
    for (const { count, resolve } of this.#waiting) if (this.#set >= count) resolve();
    return () => this.#remove(timer);
  }

  /** Shows an earlier time, as a clock that is corrected. Timers keep their delays. */
  setBack(ms: number): void {
    this.#correction -= ms;
  }

  /** Advances the time. Each timer that is due acts at its time. */
  advance(ms: number): void {
    const end = this.#elapsed + ms;
    for (;;) {
      const next = this.#timers.filter(({ due }) => due <= end).sort((a, b) => a.due - b.due)[0];
      if (next === undefined) break;
      this.#remove(next);
      this.#elapsed = next.due;
      next.action();
    }
    this.#elapsed = end;
  }

  /** Resolves when this number of timers were set since the beginning. */
  timersSet(count: number): Promise<void> {
    if (this.#set >= count) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push({ count, resolve }));
  }

  #remove(timer: Timer): void {
    this.#timers = this.#timers.filter((other) => other !== timer);
  }
}
