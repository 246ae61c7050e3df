import type { Clock } from '@hansard/dispatch';

export const startOfTest = Date.UTC(2026, 2, 1, 9, 0, 0);

/** A clock that moves only when it is told to. */
export class ManualClock implements Clock {
  #now = startOfTest;
  #timers: { readonly due: number; readonly action: () => void }[] = [];

  get timers(): number {
    return this.#timers.length;
  }

  now(): number {
    return this.#now;
  }

  after(ms: number, action: () => void): () => void {
    const timer = { due: this.#now + ms, action };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer);
    };
  }

  /** Shows an earlier time, as a clock that is corrected; timers count on as they did. */
  setBack(ms: number): void {
    this.#now -= ms;
    this.#timers = this.#timers.map(({ due, action }) => ({ due: due - ms, action }));
  }

  /** Moves on, and lets each timer that is due act at its time. */
  advance(ms: number): void {
    const end = this.#now + ms;
    for (;;) {
      const next = this.#timers.filter(({ due }) => due <= end).sort((a, b) => a.due - b.due)[0];
      if (next === undefined) break;
      this.#timers = this.#timers.filter((other) => other !== next);
      this.#now = next.due;
      next.action();
    }
    this.#now = end;
  }
}
