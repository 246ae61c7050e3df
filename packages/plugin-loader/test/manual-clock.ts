import type { LoadClock } from '../src/index.ts';

/** A clock that stands still until a test moves it. */
export interface ManualClock extends LoadClock {
  /** Calls what is due by then. */
  advance(milliseconds: number): void;
  /** Resolves when so many timers were set since the beginning. */
  timersSet(count: number): Promise<void>;
  /** How many timers wait. */
  readonly waiting: number;
}

export function createManualClock(): ManualClock {
  let time = 0;
  let set = 0;
  const timers = new Set<{ readonly due: number; readonly callback: () => void }>();
  const watchers: { readonly count: number; readonly resolve: () => void }[] = [];
  return {
    now: () => time,
    setTimer(callback, milliseconds) {
      const timer = { due: time + milliseconds, callback };
      timers.add(timer);
      set += 1;
      for (const watcher of watchers) if (set >= watcher.count) watcher.resolve();
      return () => timers.delete(timer);
    },
    advance(milliseconds) {
      time += milliseconds;
      for (const timer of timers) {
        if (timer.due > time) continue;
        timers.delete(timer);
        timer.callback();
      }
    },
    timersSet(count) {
      return set >= count ? Promise.resolve() : new Promise((resolve) => watchers.push({ count, resolve }));
    },
    get waiting() {
      return timers.size;
    },
  };
}
