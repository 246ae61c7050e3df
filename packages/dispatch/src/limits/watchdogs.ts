import type { Clock } from '@hansard/provider';

/** Calls `onTimeout` once, after `limitMs`. Returns a function that cancels it. */
export function watchTime(clock: Clock, limitMs: number, onTimeout: (elapsedMs: number) => void): () => void {
  const startedAt = clock.now();
  return clock.after(limitMs, () => onTimeout(Math.max(limitMs, clock.now() - startedAt)));
}

export interface StallWatch {
  /** Something happened. */
  touch(): void;
  stop(): void;
}

/**
 * Calls `onTimeout` once, when nothing has happened for `limitMs`; if `isExcused` then, the time starts again. A touch sets
 * no timer: the timer reads the time of the last touch.
 */
export function watchStall(
  clock: Clock,
  limitMs: number,
  onTimeout: (idleMs: number) => void,
  isExcused: () => boolean,
): StallWatch {
  let touchedAt = clock.now();
  const look = () => {
    const now = clock.now();
    // The clock may have been set back since.
    touchedAt = isExcused() ? now : Math.min(touchedAt, now);
    const idleMs = now - touchedAt;
    if (idleMs >= limitMs) onTimeout(idleMs);
    else cancel = clock.after(limitMs - idleMs, look);
  };
  let cancel = clock.after(limitMs, look);
  return {
    touch: () => {
      touchedAt = clock.now();
    },
    stop: () => cancel(),
  };
}
