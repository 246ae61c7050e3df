import { listAll, type Scope } from '@hansard/compose';
import type { DispatchEntry, DispatchStore } from '@hansard/dispatch';

/**
 * The sessions of the task that were forked from the shown ones, or continue them, and the origins of these. The scope of a session does not have them,
 * because they are not workers.
 */
export async function forksBeside(
  store: DispatchStore,
  { taskDir, dispatchId, listings }: Scope,
  shown: readonly DispatchEntry[],
): Promise<readonly DispatchEntry[]> {
  if (dispatchId === null) return [];
  const all = listings.length > 1 ? listings : await listAll(store, { taskDir });
  const originOf = (entry: DispatchEntry) =>
    'error' in entry ? undefined : entry.envelope.forkedFrom?.from.dispatchId;
  const ids = new Set(shown.map((one) => one.dispatchId));
  const origins = new Set(shown.flatMap((one) => originOf(one) ?? []));
  return all.filter(
    (one) =>
      one.dispatchId !== undefined &&
      !ids.has(one.dispatchId) &&
      (ids.has(originOf(one)) || origins.has(one.dispatchId)),
  );
}
