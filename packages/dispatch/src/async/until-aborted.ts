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

/** Calls `act` when the signal aborts, or at once if it is aborted, with the reason as text if there is one. Returns a function that cancels this. */
export function onAbort(
  signal: AbortSignal | undefined,
  act: (reason: string | undefined) => void,
): () => void {
  if (signal === undefined) return () => {};
  const listener = () => act(describeReason(signal.reason));
  signal.addEventListener('abort', listener);
  if (signal.aborted) listener();
  return () => signal.removeEventListener('abort', listener);
}

function describeReason(reason: unknown): string | undefined {
  if (typeof reason === 'string') return reason;
  return reason instanceof Error ? reason.message : undefined;
}
