/** Acts once a signal aborts, or at once, with its reason in words where it has some. Gives back what calls it off. */
export function heedSignal(
  signal: AbortSignal | undefined,
  act: (reason: string | undefined) => void,
): () => void {
  if (signal === undefined) return () => {};
  const onAbort = () => act(describeReason(signal.reason));
  signal.addEventListener('abort', onAbort);
  if (signal.aborted) onAbort();
  return () => signal.removeEventListener('abort', onAbort);
}

function describeReason(reason: unknown): string | undefined {
  if (typeof reason === 'string') return reason;
  return reason instanceof Error ? reason.message : undefined;
}
