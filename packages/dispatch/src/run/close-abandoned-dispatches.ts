import { type DispatchEnvelope, newEvent } from '@hansard/events';
import { createDispatchFacts } from '@hansard/facts';
import { type StoreError, storeErrors } from '@hansard/provider';
import type { Dispatch, DispatchEnd } from '../store/dispatch.ts';
import type { DispatchRef } from '../store/dispatch-ref.ts';
import type { DispatchStore } from '../store/dispatch-store.ts';
import { completionUpdates } from './completion.ts';

export interface CloseAbandonedOptions {
  /** Receives the error of each dispatch that cannot be read. */
  readonly onUnreadable?: (error: StoreError) => void;
  /**
   * Receives each running dispatch that is unchanged because its owner cannot be checked, and the milliseconds after which its claim
   * expires, unless the owner renews it. Call `closeAbandonedDispatches` again after that time.
   */
  readonly onUnchecked?: (dispatch: DispatchRef, expiresInMs: number) => void;
}

/**
 * Ends the abandoned dispatches of a task: those that are `running` and whose claim has expired, because its owner exited or no longer
 * renews it, and those that this process abandoned when its store failed. If the log
 * says how a dispatch ended, the envelope gets that status, time, cost and result. Any other dispatch gets a
 * `harness:error` and becomes `crashed`. A dispatch that has a writer, in this process or another (STORE_LOCKED), is
 * unchanged; if its owner cannot be checked, `onUnchecked` receives the time after which to call this again. So is a dispatch that was released while it was `running`, an imported session, and one that cannot be read; its
 * error is passed to `onUnreadable`. In a store with one writer, every running dispatch without an object of this process is abandoned. Returns the envelopes of the dispatches
 * that it ended. Call it when a harness starts.
 * @throws STORE_CORRUPT, STORE_UNAVAILABLE for a dispatch that cannot be read, without `onUnreadable`
 */
export async function closeAbandonedDispatches(
  store: DispatchStore,
  taskDir: string,
  { onUnreadable, onUnchecked }: CloseAbandonedOptions = {},
): Promise<DispatchEnvelope[]> {
  const running: string[] = [];
  for await (const listed of store.dispatches({ taskDir, status: ['running'] })) {
    if ('error' in listed) {
      if (onUnreadable === undefined) throw listed.error;
      onUnreadable(listed.error);
      continue;
    }
    // Of an imported session, `running` says only that its source had no end: there is no process that could have exited.
    if (listed.envelope.source === null) running.push(listed.dispatchId);
  }
  const closed: DispatchEnvelope[] = [];
  for (const dispatchId of await abandonedOf(store, taskDir, running, onUnchecked)) {
    const envelope = await closeAbandoned(store, { taskDir, dispatchId });
    if (envelope !== null) closed.push(envelope);
  }
  return closed;
}

/** Those whose owner of the claim is gone. A dispatch without a claim was released, so its owner meant to leave it running. */
async function abandonedOf(
  store: DispatchStore,
  taskDir: string,
  running: readonly string[],
  onUnchecked: CloseAbandonedOptions['onUnchecked'],
): Promise<readonly string[]> {
  if (running.length === 0 || store.capabilities.writers === 'process') return running;
  const claims = await store.findClaims(taskDir, running);
  return running.filter((dispatchId, at) => {
    const claim = claims[at] ?? null;
    if (claim?.state === 'unknown' && claim.expiresInMs !== null)
      onUnchecked?.({ taskDir, dispatchId }, claim.expiresInMs);
    return claim !== null && (claim.isOwn || claim.state === 'expired');
  });
}

async function closeAbandoned(
  store: DispatchStore,
  abandoned: DispatchRef,
): Promise<DispatchEnvelope | null> {
  try {
    await using dispatch = await store.openDispatch(abandoned, {
      write: true,
      owner: 'a start-up that ends it',
    });
    // It may have ended since it was listed.
    if (dispatch.envelope.status !== 'running') return null;
    return await dispatch.end(await endOf(dispatch));
  } catch (error) {
    // It has another writer, or was deleted since it was listed.
    if (storeErrors.is(error, 'STORE_LOCKED') || storeErrors.is(error, 'STORE_DISPATCH_NOT_FOUND'))
      return null;
    throw error;
  }
}

/** The updates that complete the envelope. Appends a `harness:error` if the log does not say how the dispatch ended. */
async function endOf(dispatch: Dispatch): Promise<DispatchEnd> {
  // The facts of the dispatch itself can begin in the middle of the log.
  const facts = createDispatchFacts();
  for await (const { event } of dispatch.events()) facts.observe(event);
  const { ending, completion, lastActivity } = facts;
  if (ending !== null && lastActivity !== null)
    return completionUpdates(completion, ending === 'stopped' ? 'aborted' : 'ended', lastActivity);
  const message = 'The process that ran this dispatch ended before the dispatch did.';
  const died = await dispatch.append(newEvent('harness:error', { message }));
  return completionUpdates(completion, 'crashed', died.timestamp);
}
