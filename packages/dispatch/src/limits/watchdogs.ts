import type { Clock } from '../async/clock.ts';

/** Barks once when so much time has passed. Gives back what calls it off. */
export function watchTime(clock: Clock, limitMs: number, bark: (elapsedMs: number) => void): () => void {
  const startedAt = clock.now();
  return clock.after(limitMs, () => bark(Math.max(limitMs, clock.now() - startedAt)));
}

export interface StallWatch {
  /** Something happened. */
  touch(): void;
  stop(): void;
}

/**
 * Barks once when nothing has happened for so long, but for the time that `isExcused` at its end. A touch costs no
 * timer: the timer looks when the last one was.
 */
export function watchStall(
  clock: Clock,
  limitMs: number,
  bark: (idleMs: number) => void,
  isExcused: () => boolean,
): StallWatch {
  let touchedAt = clock.now();
  const look = () => {
    const now = clock.now();
    // The clock may have been set back since.
    touchedAt = isExcused() ? now : Math.min(touchedAt, now);
    const idleMs = now - touchedAt;
    if (idleMs >= limitMs) bark(idleMs);
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
