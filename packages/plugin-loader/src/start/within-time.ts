import type { LoadClock } from './clock.ts';

/** Settles as the work does, or rejects with the error of `timeUp` after the time limit. */
export function withinTime<T>(
  work: Promise<T>,
  limitMs: number,
  clock: LoadClock,
  timeUp: () => Error,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const cancel = clock.setTimer(() => reject(timeUp()), limitMs);
    work.then(resolve, reject).finally(cancel);
  });
}
