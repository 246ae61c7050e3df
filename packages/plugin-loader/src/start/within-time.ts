import type { Clock } from '@hansard/provider';

/** Settles as the work does, or rejects with the error of `timeUp` after the time limit. */
export function withinTime<T>(
  work: Promise<T>,
  limitMs: number,
  clock: Clock,
  timeUp: () => Error,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const cancel = clock.after(limitMs, () => reject(timeUp()));
    work.then(resolve, reject).finally(cancel);
  });
}
