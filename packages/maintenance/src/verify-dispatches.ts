import { setImmediate as nextTurn } from 'node:timers/promises';
import type { DispatchEntry, DispatchRef, DispatchStore } from '@hansard/dispatch';
import { type DispatchVerification, type StoreError, storeErrors, type TaskListing } from '@hansard/provider';

export interface VerifyScope {
  /** Only this task. Absent: every task. */
  readonly taskDir?: string;
  /** Only this dispatch of the task. */
  readonly dispatchId?: string;
  /** Ends the verification before the next dispatch, with the reason of the signal. */
  readonly signal?: AbortSignal;
}

/** The state of one dispatch, or of a task whose record or list cannot be read. */
export interface VerifiedDispatch {
  readonly taskDir: string;
  /** Null: the record or the list of the task cannot be read. */
  readonly dispatchId: string | null;
  /** Null if it could not be verified. */
  readonly verification: DispatchVerification | null;
  /** The reason why it could not be verified: STORE_CORRUPT, STORE_UNAVAILABLE, or STORE_INVALID_PATH for a link out of the store. */
  readonly error: StoreError | null;
}

/**
 * Verifies dispatches one after the other, by task and then in the order of their start. In a store without checksums every event is
 * read instead, so that only what is not an event counts as damage. A dispatch that was deleted meanwhile is omitted.
 * @throws STORE_DISPATCH_NOT_FOUND for a `dispatchId` that does not exist, STORE_UNAVAILABLE if the tasks cannot be listed
 */
export async function* verifyDispatches(
  store: DispatchStore,
  { taskDir, dispatchId, signal }: VerifyScope = {},
): AsyncGenerator<VerifiedDispatch, undefined> {
  if (taskDir !== undefined && dispatchId !== undefined) {
    yield await verifyOne(store, { taskDir, dispatchId });
    return;
  }
  const tasks: readonly TaskListing[] =
    taskDir === undefined ? await store.listTasks() : [{ taskDir, task: null }];
  const listed: DispatchEntry[] = [];
  try {
    for await (const listing of store.dispatches(taskDir === undefined ? {} : { taskDir }))
      listed.push(listing);
  } catch (error) {
    if (taskDir === undefined) throw error;
    yield unverified(taskDir, null, asDamage(error));
    return;
  }
  const listings = Map.groupBy(listed, (listing) => listing.taskDir);
  for (const task of tasks) {
    if (task.error !== undefined) yield unverified(task.taskDir, null, task.error);
    yield* verifyTask(store, task, listings.get(task.taskDir) ?? [], signal);
  }
}

async function* verifyTask(
  store: DispatchStore,
  { taskDir, error: reported }: Pick<TaskListing, 'taskDir' | 'error'>,
  listings: readonly DispatchEntry[],
  signal: AbortSignal | undefined,
): AsyncGenerator<VerifiedDispatch, undefined> {
  for (const listing of listings) {
    const { dispatchId } = listing;
    if (dispatchId === undefined) {
      const damage = asDamage('error' in listing ? listing.error : null);
      if (damage.code !== reported?.code) yield unverified(taskDir, null, damage);
      continue;
    }
    // A synchronous store would keep timers and signals waiting until the end.
    await nextTurn(undefined, signal === undefined ? {} : { signal });
    try {
      yield await verifyOne(store, { taskDir, dispatchId });
    } catch (error) {
      if (!storeErrors.is(error, 'STORE_DISPATCH_NOT_FOUND')) throw error;
    }
  }
}

async function verifyOne(store: DispatchStore, dispatch: DispatchRef): Promise<VerifiedDispatch> {
  const { taskDir, dispatchId } = dispatch;
  try {
    const verification =
      store.capabilities.integrity === 'checksum'
        ? await store.verifyDispatch(dispatch)
        : await readWhole(store, dispatch);
    return { taskDir, dispatchId, verification, error: null };
  } catch (error) {
    return unverified(taskDir, dispatchId, asDamage(error));
  }
}

/** The verification of a store without checksums. It does not know the stored bytes, so it counts those of the events as JSON. */
async function readWhole(store: DispatchStore, dispatch: DispatchRef): Promise<DispatchVerification> {
  const log = await store.openDispatch(dispatch);
  let wholeEvents = 0;
  let bytes = 0;
  for await (const { events } of log.pages()) {
    wholeEvents += events.length;
    for (const event of events) bytes += Buffer.byteLength(JSON.stringify(event));
  }
  return { integrity: 'none', wholeEvents, bytes, damages: [] };
}

/** @throws the error if it does not concern one dispatch or one task */
function asDamage(error: unknown): StoreError {
  const codes = ['STORE_CORRUPT', 'STORE_UNAVAILABLE', 'STORE_INVALID_PATH'] as const;
  if (codes.some((code) => storeErrors.is(error, code))) return error as StoreError;
  throw error;
}

function unverified(taskDir: string, dispatchId: string | null, error: StoreError): VerifiedDispatch {
  return { taskDir, dispatchId, verification: null, error };
}
