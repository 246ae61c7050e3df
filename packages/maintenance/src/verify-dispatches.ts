import { createHash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  type DispatchEntry,
  type DispatchRef,
  type DispatchStore,
  dispatchErrors,
  dispatchesWithNotes,
  type StoredLetter,
} from '@hansard/dispatch';
import {
  type CapturedEvent,
  encodeEvent,
  type HansardError,
  isEventOf,
  replacedField,
  toTimestamp,
} from '@hansard/events';
import {
  type DispatchVerification,
  isInternalTask,
  isUnreadable,
  type StoreError,
  storeErrors,
  type TaskListing,
} from '@hansard/provider';

export interface VerifyScope {
  /** Only this task. Absent: every task. */
  readonly taskDir?: string;
  /** Only this dispatch of the task. */
  readonly dispatchId?: string;
  /** Ends the verification before the next dispatch, with the reason of the signal. */
  readonly signal?: AbortSignal;
}

/** The state of one dispatch or letter, or of a task whose record or list cannot be read. */
export interface VerifiedDispatch {
  readonly taskDir: string;
  /** Null: the record or the list of the task, or the inbox of a dispatch, cannot be read. */
  readonly dispatchId: string | null;
  /** The dispatch that a letter was written to; its `taskDir` is null if the letter does not say so. Null: it is a dispatch or a task. */
  readonly letterTo: StoredLetter['to'];
  /** Null if it could not be verified. */
  readonly verification: DispatchVerification | null;
  /**
   * The reason why it could not be verified: STORE_CORRUPT, STORE_MISPLACED, STORE_UNAVAILABLE, or STORE_INVALID_PATH for a link out of the store; or the reason why a
   * letter can never be taken: DISPATCH_LETTER_INVALID, also if the dispatch that it was written to does not exist.
   */
  readonly error: HansardError | null;
}

/**
 * Verifies dispatches one after the other, by task and then in the order of their start, and after them the letters that were written to them. In a store without checksums every event is
 * read instead, so that only what is not an event counts as damage. A dispatch that was deleted meanwhile is omitted.
 * @throws STORE_DISPATCH_NOT_FOUND for a `dispatchId` that does not exist, STORE_UNAVAILABLE if the tasks cannot be listed
 */
export async function* verifyDispatches(
  store: DispatchStore,
  { taskDir, dispatchId, signal }: VerifyScope = {},
): AsyncGenerator<VerifiedDispatch, undefined> {
  if (taskDir !== undefined && dispatchId !== undefined) {
    yield await verifyOne(store, { taskDir, dispatchId });
    yield* verifyLetters(store, { taskDir, dispatchId }, signal);
    return;
  }
  const tasks: readonly TaskListing[] =
    taskDir === undefined ? await store.listTasks() : [{ taskDir, task: null }];
  const listed: DispatchEntry[] = [];
  try {
    for await (const listing of dispatchesWithNotes(store, { taskDir })) listed.push(listing);
  } catch (error) {
    if (taskDir === undefined) throw error;
    yield unverified(taskDir, null, asDamage(error));
    return;
  }
  const listings = Map.groupBy(listed, (listing) => listing.taskDir);
  const known = new Set(tasks.map((task) => task.taskDir));
  const ofNotes = [...listings.keys()].filter((name) => isInternalTask(name) && !known.has(name));
  const all: readonly TaskListing[] = [...tasks, ...ofNotes.map((name) => ({ taskDir: name, task: null }))];
  for (const task of all) {
    if (task.error !== undefined) yield unverified(task.taskDir, null, task.error);
    yield* verifyTask(store, task, listings.get(task.taskDir) ?? [], signal);
  }
  yield* verifyLetters(store, taskDir === undefined ? {} : { taskDir }, signal);
}

async function* verifyLetters(
  store: DispatchStore,
  scope: Pick<VerifyScope, 'taskDir' | 'dispatchId'>,
  signal: AbortSignal | undefined,
): AsyncGenerator<VerifiedDispatch, undefined> {
  for await (const stored of store.readLetters(scope)) {
    await nextTurn(undefined, signal === undefined ? {} : { signal });
    const { inbox, letterId, to: letterTo, error } = stored;
    if (letterId === null) {
      yield { ...unverified(inbox, null, error as HansardError), letterTo };
      continue;
    }
    try {
      const verified = await verifyOne(store, { taskDir: inbox, dispatchId: letterId });
      const { verification } = verified;
      const isWhole = verified.error === null && verification?.damages.length === 0;
      const problem = isWhole ? (error ?? (await withoutReader(store, stored))) : verified.error;
      yield { ...verified, letterTo, error: problem };
    } catch (failure) {
      if (!storeErrors.is(failure, 'STORE_DISPATCH_NOT_FOUND')) throw failure;
    }
  }
}

/** An error for a letter whose dispatch does not exist. */
async function withoutReader(
  store: DispatchStore,
  { inbox, letterId, to }: StoredLetter,
): Promise<HansardError | null> {
  if (to === null || to.taskDir === null || letterId === null) return null;
  const { taskDir, dispatchId } = to;
  try {
    if ((await store.findDispatch({ taskDir, dispatchId })) !== null) return null;
  } catch (error) {
    // It exists, and is reported itself.
    asDamage(error);
    return null;
  }
  const reason = 'the dispatch that it was written to does not exist';
  return dispatchErrors.error('DISPATCH_LETTER_INVALID', `The letter ${letterId} is not taken: ${reason}.`, {
    details: { taskDir: inbox, dispatchId: letterId, reason },
  });
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
    return { taskDir, dispatchId, letterTo: null, verification, error: null };
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
  if (isUnreadable(error) || storeErrors.is(error, 'STORE_INVALID_PATH')) return error;
  throw error;
}

function unverified(taskDir: string, dispatchId: string | null, error: HansardError): VerifiedDispatch {
  return { taskDir, dispatchId, letterTo: null, verification: null, error };
}

/** What a log was when it was sealed. Kept elsewhere, it shows whether the log is still that one. */
export interface Seal {
  readonly seal: 'hansard-1';
  readonly taskDir: string;
  readonly dispatchId: string;
  /** How many events were sealed. */
  readonly events: number;
  /** SHA-256 over the encoded events, each with a line end, in hexadecimal digits. */
  readonly sha256: string;
  readonly sealedAt: string;
}

/**
 * What a log is beside its seal. `rewritten`: the sealed events differ, and a later notice says that a redaction replaced secrets, at that time.
 * `changed`: they differ without such a notice. `missing`: the dispatch does not exist.
 */
export type SealedState =
  | { readonly state: 'same' | 'missing' }
  | { readonly state: 'continued' | 'changed'; readonly events: number }
  | { readonly state: 'rewritten'; readonly events: number; readonly at: string | null };

/** Reads a log and seals it. @throws STORE_DISPATCH_NOT_FOUND, STORE_CORRUPT */
export async function sealDispatch(
  store: DispatchStore,
  { taskDir, dispatchId }: DispatchRef,
  { now = Date.now }: { readonly now?: () => number } = {},
): Promise<Seal> {
  const { events, sha256 } = await digest(store, { taskDir, dispatchId }, Infinity);
  return { seal: 'hansard-1', taskDir, dispatchId, events, sha256, sealedAt: toTimestamp(now()) };
}

/** Reads the log of a seal and compares it. @throws STORE_CORRUPT, for which `verifyDispatches` has the places */
export async function compareSeal(store: DispatchStore, seal: Seal): Promise<SealedState> {
  try {
    const { events, sha256, redactedAt } = await digest(store, seal, seal.events);
    if (sha256 === seal.sha256 && events >= seal.events)
      return events === seal.events ? { state: 'same' } : { state: 'continued', events };
    if (redactedAt === undefined) return { state: 'changed', events };
    return { state: 'rewritten', events, at: redactedAt };
  } catch (error) {
    if (storeErrors.is(error, 'STORE_DISPATCH_NOT_FOUND')) return { state: 'missing' };
    throw error;
  }
}

/** Whether a value is a seal: a JSON document that `sealDispatch` made. */
export function isSeal(value: unknown): value is Seal {
  const { seal, taskDir, dispatchId, events, sha256 } = (value ?? {}) as Partial<Record<keyof Seal, unknown>>;
  return (
    seal === 'hansard-1' &&
    typeof taskDir === 'string' &&
    typeof dispatchId === 'string' &&
    Number.isSafeInteger(events) &&
    /^[0-9a-f]{64}$/.test(String(sha256))
  );
}

/** The digest of the first events of a log, how many it has, and when a redaction rewrote it after those. */
async function digest(store: DispatchStore, ref: DispatchRef, sealed: number) {
  const log = await store.openDispatch(ref);
  const hash = createHash('sha256');
  let events = 0;
  let redactedAt: string | null | undefined;
  for await (const { event } of log.events()) {
    if (events < sealed) hash.update(`${encodeEvent(event)}\n`);
    else if (isRedaction(event)) redactedAt = event.timestamp;
    events += 1;
  }
  return { events, sha256: hash.digest('hex'), redactedAt };
}

function isRedaction(event: CapturedEvent): boolean {
  return isEventOf(event, 'system:notice') && event.data[replacedField] !== undefined;
}
