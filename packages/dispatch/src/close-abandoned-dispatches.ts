import { type DispatchEnvelope, newEvent } from '@hansard/events';
import { isStoreError } from '@hansard/provider';
import type { DispatchStore } from './dispatch-store.ts';

/**
 * Ends the dispatches of a task that a dead process left `running`: each gets a `harness:error` that says so and becomes
 * `crashed`. One that runs in this process, or whose writer lives elsewhere (STORE_LOCKED), is left alone. Gives the
 * envelopes of those that it ended. For the start-up of a harness.
 */
export async function closeAbandonedDispatches(
  store: DispatchStore,
  taskDir: string,
): Promise<DispatchEnvelope[]> {
  const closed: DispatchEnvelope[] = [];
  for (const { dispatchId, status } of await store.getDispatchEnvelopes(taskDir)) {
    if (status !== 'running') continue;
    const envelope = await closeAbandoned(store, taskDir, dispatchId);
    if (envelope !== null) closed.push(envelope);
  }
  return closed;
}

async function closeAbandoned(
  store: DispatchStore,
  taskDir: string,
  dispatchId: string,
): Promise<DispatchEnvelope | null> {
  // It may have ended since it was listed.
  const now = await store.getDispatchEnvelope(taskDir, dispatchId);
  if (now?.status !== 'running' || store.isRunningHere(taskDir, dispatchId)) return null;
  const message = 'The process that ran this dispatch ended before the dispatch did.';
  try {
    const { timestamp } = await store.appendEvent(
      taskDir,
      dispatchId,
      newEvent('harness:error', { message }),
    );
    return await store.updateDispatch(taskDir, dispatchId, { status: 'crashed', completedAt: timestamp });
  } catch (error) {
    if (isStoreError(error, 'STORE_LOCKED')) return null;
    throw error;
  }
}
