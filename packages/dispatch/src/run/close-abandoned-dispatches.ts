import { type DispatchEnvelope, newEvent } from '@hansard/events';
import { isStoreError, type StoreError } from '@hansard/provider';
import type { Dispatch, DispatchEnd } from '../store/dispatch.ts';
import type { DispatchRef } from '../store/dispatch-ref.ts';
import type { DispatchStore } from '../store/dispatch-store.ts';
import { LoggedEnding } from './logged-ending.ts';

export interface CloseAbandonedOptions {
  /** Receives the error of each dispatch that can't be read. */
  readonly onUnreadable?: (error: StoreError) => void;
}

/** The role of a dispatch that an import recorded, unless its source names another. */
export const importedRole = 'imported';

/**
 * Ends the dispatches of a task that a dead process left `running`, or this one, where the store failed. One whose log
 * says how it ended gets what it says: its status, its time, what it cost and came to. Any other gets a `harness:error`
 * and becomes `crashed`. One that runs in this process, or whose writer runs elsewhere (STORE_LOCKED), is left alone; so
 * is an imported session, and one that can't be read, whose error goes to `onUnreadable`. Gives the envelopes of those that it ended. For the
 * start-up of a harness.
 * @throws STORE_CORRUPT, STORE_UNAVAILABLE for one that can't be read, where there is no `onUnreadable`
 */
export async function closeAbandonedDispatches(
  store: DispatchStore,
  taskDir: string,
  { onUnreadable }: CloseAbandonedOptions = {},
): Promise<DispatchEnvelope[]> {
  const closed: DispatchEnvelope[] = [];
  for (const { dispatchId, envelope: listed, error } of await store.listDispatches(taskDir)) {
    if (error !== undefined) {
      if (onUnreadable === undefined) throw error;
      onUnreadable(error);
    }
    // Of an imported session, `running` says only that its source had no end: there is no process that could have exited.
    if (listed?.status !== 'running' || listed.role === importedRole) continue;
    const envelope = await closeAbandoned(store, { taskDir, dispatchId });
    if (envelope !== null) closed.push(envelope);
  }
  return closed;
}

async function closeAbandoned(
  store: DispatchStore,
  abandoned: DispatchRef,
): Promise<DispatchEnvelope | null> {
  try {
    await using dispatch = await store.openDispatch(abandoned, {
      write: true,
      holder: 'a start-up that ends it',
    });
    // It may have ended since it was listed.
    if (dispatch.envelope.status !== 'running') return null;
    return await dispatch.end(await endOf(dispatch));
  } catch (error) {
    // Somebody else writes it, or removed it since it was listed.
    if (isStoreError(error, 'STORE_LOCKED') || isStoreError(error, 'STORE_DISPATCH_NOT_FOUND')) return null;
    throw error;
  }
}

/** What completes the envelope. Where the log does not say it yet, it does then. */
async function endOf(dispatch: Dispatch): Promise<DispatchEnd> {
  const ending = new LoggedEnding();
  for await (const { event } of dispatch.events()) ending.observe(event);
  if (ending.updates !== null) return ending.updates;
  const message = 'The process that ran this dispatch ended before the dispatch did.';
  const died = await dispatch.append(newEvent('harness:error', { message }));
  return ending.crashedAt(died.timestamp);
}
