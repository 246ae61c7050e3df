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
