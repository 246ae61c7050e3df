import { setImmediate as nextTurn } from 'node:timers/promises';
import { type DispatchRef, type DispatchStore, dispatchesWithNotes } from '@hansard/dispatch';
import type { HansardError } from '@hansard/events';
import { isUnreadable, type StoreError, storeErrors } from '@hansard/provider';
import {
  type RecordFinding,
  type RecordKind,
  type Redactor,
  type UnreadContent,
  UnreadContents,
} from '@hansard/redaction';
import type { VerifyScope } from './verify-dispatches.ts';

/**
 * Where a store has a secret. The secret is not in it, unless the folder of the task or the id of the dispatch has it. `isKept`: it
 * is in a field or a name that `redactDispatches` and `redactTasks` keep, so it stays.
 */
export interface StoredSecret extends RecordFinding {
  readonly taskDir: string;
  /** Null: in the record of the task, or in the name of its folder. The field is then `/taskDir`. */
  readonly dispatchId: string | null;
  /** The position of the event. Null: in the envelope or the record. */
  readonly position: number | null;
  /** The type of the event. Null: in the envelope or the record. */
  readonly type: string | null;
  /** The letter to the dispatch that has the secret. Null: it is in no letter. */
  readonly letterId: string | null;
}

/**
 * A secret, the number of events of a page that was read, the end of a dispatch, the end of a letter, a record of a task that cannot be read, or a place that
 * was not scanned, because it belongs to no dispatch (`findRemains`).
 */
export type ScanItem =
  | ItemOf<'secret', StoredSecret>
  | ItemOf<'read', number>
  | ItemOf<
      'scanned',
      {
        readonly taskDir: string;
        /** Null: the entry of a listing that names no dispatch. */
        readonly dispatchId: string | null;
        readonly events: number;
        /** The images, documents and sounds of what was read. Their bytes are not searched for secrets. */
        readonly unread: readonly UnreadContent[];
        /** Null: everything was read. */
        readonly error: StoreError | null;
      }
    >
  | ItemOf<
      'scannedLetter',
      {
        readonly taskDir: string;
        /** Null: the letters to a dispatch cannot be listed. */
        readonly dispatchId: string | null;
        /** Null: everything was read. */
        readonly error: HansardError | null;
      }
    >
  | ItemOf<
      'unreadTask',
      {
        readonly taskDir: string;
        readonly error: StoreError;
      }
    >
  | ItemOf<'remains', string>;

type ScanItemKind = 'secret' | 'read' | 'scanned' | 'scannedLetter' | 'unreadTask' | 'remains';
type ItemOf<Kind extends ScanItemKind, Value> = { readonly [K in Kind]: Value } & {
  readonly [K in Exclude<ScanItemKind, Kind>]?: never;
};

/**
 * Finds the secrets in the records of tasks, and then in the envelopes and events, dispatch by dispatch, a page of events at a time, and in the letters to them. An item
 * contains no secret but those in its address. A dispatch that was deleted meanwhile is omitted; one that cannot be read completely is reported, and the next one follows.
 * @throws STORE_DISPATCH_NOT_FOUND for a `dispatchId` that does not exist, STORE_UNAVAILABLE if the dispatches cannot be listed
 */
export async function* scanSecrets(
  store: DispatchStore,
  redactor: Redactor,
  { taskDir, dispatchId, signal }: VerifyScope = {},
): AsyncGenerator<ScanItem, undefined> {
  const within = {
    ...(taskDir !== undefined && { taskDir }),
    ...(dispatchId !== undefined && { dispatchId }),
  };
  if (taskDir !== undefined && dispatchId !== undefined) {
    yield* scanDispatch(store, redactor, { taskDir, dispatchId }, signal);
    yield* scanLetters(store, redactor, within, signal);
    for (const remains of await store.findRemains(within)) yield { remains };
    return;
  }
  yield* scanTasks(store, redactor, taskDir);
  for await (const listing of dispatchesWithNotes(store, { taskDir })) {
    const { taskDir: place, dispatchId: id } = listing;
    if (id === undefined) {
      const error = 'error' in listing ? listing.error : null;
      yield { scanned: { taskDir: place, dispatchId: null, events: 0, unread: [], error } };
      continue;
    }
    try {
      yield* scanDispatch(store, redactor, { taskDir: place, dispatchId: id }, signal);
    } catch (error) {
      if (!storeErrors.is(error, 'STORE_DISPATCH_NOT_FOUND')) throw error;
    }
  }
  yield* scanLetters(store, redactor, within, signal);
  for (const remains of await store.findRemains(within)) yield { remains };
}

/** A secret of a letter is named by the dispatch that it was written to, and by the letter. */
async function* scanLetters(
  store: DispatchStore,
  redactor: Redactor,
  scope: Pick<VerifyScope, 'taskDir' | 'dispatchId'>,
  signal: AbortSignal | undefined,
): AsyncGenerator<ScanItem, undefined> {
  for await (const { inbox, letterId, to, error } of store.readLetters(scope)) {
    await nextTurn(undefined, signal === undefined ? {} : { signal });
    if (letterId === null) {
      yield { scannedLetter: { taskDir: inbox, dispatchId: null, error } };
      continue;
    }
    const place = { taskDir: inbox, dispatchId: letterId };
    try {
      const envelope = await store.getDispatchEnvelope(place);
      if (envelope === null) continue;
      const address = { taskDir: to?.taskDir ?? inbox, dispatchId: to?.dispatchId ?? letterId };
      for (const finding of redactor.findInRecord(envelope, 'envelope'))
        yield { secret: { ...address, position: null, type: null, letterId, ...finding } };
      yield { scannedLetter: { ...place, error: null } };
    } catch (failure) {
      if (!isUnreadable(failure)) throw failure;
      yield { scannedLetter: { ...place, error: failure } };
    }
  }
}

async function* scanTasks(
  store: DispatchStore,
  redactor: Redactor,
  only: string | undefined,
): AsyncGenerator<ScanItem, undefined> {
  const place = { dispatchId: null, position: null, type: null, letterId: null };
  for (const { taskDir, task, error } of await store.listTasks()) {
    if (only !== undefined && taskDir !== only) continue;
    for (const finding of redactor.find(taskDir))
      yield { secret: { taskDir, ...place, ...finding, field: '/taskDir', isKept: true } };
    if (error !== undefined) yield { unreadTask: { taskDir, error } };
    if (task === null) continue;
    for (const finding of redactor.findInRecord(task, 'task'))
      yield { secret: { taskDir, ...place, ...finding } };
  }
}

async function* scanDispatch(
  store: DispatchStore,
  redactor: Redactor,
  { taskDir, dispatchId }: DispatchRef,
  signal: AbortSignal | undefined,
): AsyncGenerator<ScanItem, undefined> {
  let events = 0;
  const unread = new UnreadContents();
  const found = (record: object, of: RecordKind, position: number | null, type: string | null) =>
    redactor
      .findInRecord(record, of)
      .map((finding) => ({ secret: { taskDir, dispatchId, position, type, letterId: null, ...finding } }));
  try {
    const log = await store.openDispatch({ taskDir, dispatchId });
    // `folded` repeats ids of events, which are found there.
    yield* found({ ...log.envelope, folded: null }, 'envelope', null, null);
    for await (const page of log.pages()) {
      // A synchronous store would keep timers and signals waiting until the end.
      await nextTurn(undefined, signal === undefined ? {} : { signal });
      for (const [index, event] of page.events.entries()) {
        unread.add(event, page.first + index);
        yield* found(event, 'event', page.first + index, event.type);
      }
      events += page.events.length;
      yield { read: page.events.length };
    }
    yield { scanned: { taskDir, dispatchId, events, unread: unread.all, error: null } };
  } catch (error) {
    if (!isOfOneDispatch(error)) throw error;
    yield { scanned: { taskDir, dispatchId, events, unread: unread.all, error } };
  }
}

/** Whether an error concerns one dispatch. */
function isOfOneDispatch(error: unknown): error is StoreError {
  return isUnreadable(error) || storeErrors.is(error, 'STORE_INVALID_PATH');
}
