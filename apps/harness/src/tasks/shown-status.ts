import type { DispatchStore } from '@hansard/dispatch';
import type { DispatchEnvelope } from '@hansard/events';
import { isStoreError } from '@hansard/provider';

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
  const unclaimed = new Set<string>();
  const look = async ({ dispatchId, source }: DispatchEnvelope) => {
    if (!(await isClaimed(store, taskDir, dispatchId, source === null))) unclaimed.add(dispatchId);
  };
  // Together, so that a store on another machine answers them in the time of one.
  await Promise.all(envelopes.filter(({ status }) => status === 'running').map(look));
  return ({ dispatchId, status }) => (unclaimed.has(dispatchId) ? lastSeen : status);
}

async function isClaimed(
  store: DispatchStore,
  taskDir: string,
  dispatchId: string,
  isAssumed: boolean,
): Promise<boolean> {
  try {
    const claim = await store.getClaim({ taskDir, dispatchId });
    return claim !== null && claim.state !== 'expired';
  } catch (error) {
    if (isStoreError(error, 'STORE_UNSUPPORTED')) return isAssumed;
    if (isStoreError(error, 'STORE_DISPATCH_NOT_FOUND')) return true;
    throw error;
  }
}
