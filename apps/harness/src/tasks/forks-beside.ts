import { listAll, type Scope } from '@hansard/compose';
import type { DispatchEntry, DispatchStore } from '@hansard/dispatch';

/**
 * The sessions of a task that fork or continue the shown sessions, and the origins of the shown sessions. They are not workers, so the scope of a
 * session does not have them.
 */
export async function forksBeside(
  store: DispatchStore,
  { taskDir, dispatchId, listings }: Scope,
  shown: readonly DispatchEntry[],
): Promise<readonly DispatchEntry[]> {
  if (dispatchId === null) return [];
  const all = listings.length > 1 ? listings : await listAll(store, { taskDir });
  // What its log names, and what an import has found where its log names nothing.
  const originsOf = (entry: DispatchEntry) =>
    'error' in entry
      ? []
      : [entry.envelope.forkedFrom?.from.dispatchId, ...(entry.envelope.source?.copies?.of ?? [])];
  const ids = new Set(shown.map((one) => one.dispatchId));
  const origins = new Set(shown.flatMap(originsOf));
  return all.filter(
    (one) =>
      one.dispatchId !== undefined &&
      !ids.has(one.dispatchId) &&
      (originsOf(one).some((origin) => ids.has(origin)) || origins.has(one.dispatchId)),
  );
}
