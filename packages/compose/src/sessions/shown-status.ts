import type { DispatchStore, ListedDispatch } from '@hansard/dispatch';
import type { DispatchEnvelope } from '@hansard/events';
import { storeErrors } from '@hansard/provider';

/** The status of a dispatch in words. */
export type ShownStatus = (envelope: DispatchEnvelope) => string;

const lastSeen = 'running when last seen';

/**
 * The status of dispatches as people read it: one that is `running` without a claim is so only as far as its log shows. A
 * store that cannot say whether a dispatch is claimed shows this for imported ones.
 */
export async function shownStatus(
  store: DispatchStore,
  taskDir: string,
  envelopes: readonly DispatchEnvelope[],
): Promise<ShownStatus> {
  const running = envelopes.filter(({ status }) => status === 'running');
  const areClaimed = running.length === 0 ? [] : await claimed(store, taskDir, running);
  const unclaimed = new Set(running.flatMap(({ dispatchId }, at) => (areClaimed[at] ? [] : dispatchId)));
  return ({ dispatchId, status }) => (unclaimed.has(dispatchId) ? lastSeen : status);
}

/** The same for sessions of any tasks: whether those that run are claimed is asked once for a task. */
export async function shownStatuses(
  store: DispatchStore,
  listings: readonly ListedDispatch[],
): Promise<ShownStatus> {
  const words = new Map<DispatchEnvelope, string>();
  for (const [taskDir, own] of Map.groupBy(listings, (listed) => listed.taskDir)) {
    const envelopes = own.map(({ envelope }) => envelope);
    const statusOf = await shownStatus(store, taskDir, envelopes);
    for (const envelope of envelopes) words.set(envelope, statusOf(envelope));
  }
  return (envelope) => words.get(envelope) ?? envelope.status;
}

/** Whether each dispatch is claimed. */
async function claimed(
  store: DispatchStore,
  taskDir: string,
  envelopes: readonly DispatchEnvelope[],
): Promise<boolean[]> {
  try {
    const claims = await store.findClaims(
      taskDir,
      envelopes.map(({ dispatchId }) => dispatchId),
    );
    return claims.map((claim) => claim !== null && claim.state !== 'expired');
  } catch (error) {
    if (storeErrors.is(error, 'STORE_UNSUPPORTED')) return envelopes.map(({ source }) => source === null);
    throw error;
  }
}
