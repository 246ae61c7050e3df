import type { Awaitable } from '@hansard/provider';

/** Waits for work, but no longer than until the signal aborts; then it rejects with the signal's reason. */
export async function untilAborted<T>(signal: AbortSignal, work: () => Awaitable<T>): Promise<T> {
  signal.throwIfAborted();
  let onAbort = () => {};
  const aborted = new Promise<never>((_resolve, reject) => {
    onAbort = () => reject(signal.reason);
    signal.addEventListener('abort', onAbort);
  });
  try {
    return await Promise.race([aborted, Promise.resolve(work())]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}
