import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  CopiesAmong,
  type DispatchEntry,
  type DispatchRedaction,
  type DispatchRef,
  type DispatchStore,
  dispatchesWithNotes,
} from '@hansard/dispatch';
import { addRedactions, type JsonObject, type RedactionCounts } from '@hansard/events';
import { isReadableAs, isRemovedContent, mediaPartsIn } from '@hansard/events/plain';
import { type StoreError, storeErrors } from '@hansard/provider';
import type { Redactor } from '@hansard/redaction';
import type { VerifyScope } from './verify-dispatches.ts';

/** The result for one dispatch. */
export interface RedactedDispatch {
  readonly taskDir: string;
  /** Null: the entry of a listing that names no dispatch. */
  readonly dispatchId: string | null;
  /** Null if an error prevented the change. */
  readonly redaction: DispatchRedaction | null;
  /** The secrets that stay, by kind: in ids, types and other fields that redaction keeps. Empty if an error prevented the change. */
  readonly kept: RedactionCounts;
  /** Of a dispatch that is running, that another process has claimed, or that cannot be read. */
  readonly error: StoreError | null;
}

const passedOver = [
  'STORE_LOCKED',
  'STORE_CORRUPT',
  'STORE_MISPLACED',
  'STORE_NEWER',
  'STORE_UNAVAILABLE',
  'STORE_INVALID_PATH',
] as const;

/**
 * Replaces the secrets in the ended dispatches of a store, each in one step. A dispatch that cannot be changed is reported, and the next one
 * follows; one that was deleted meanwhile is omitted.
 * @throws STORE_DISPATCH_NOT_FOUND for a `dispatchId` that does not exist, STORE_UNSUPPORTED without `capabilities.rewrite`
 */
export async function* redactDispatches(
  store: DispatchStore,
  redactor: Redactor,
  { taskDir, dispatchId, signal }: VerifyScope = {},
): AsyncGenerator<RedactedDispatch, undefined> {
  if (taskDir !== undefined && dispatchId !== undefined) {
    yield redactOne(store, redactor, { taskDir, dispatchId }, signal);
    return;
  }
  for await (const listing of dispatchesWithNotes(store, { taskDir })) {
    // Between two dispatches: each is changed whole.
    await nextTurn(undefined, signal === undefined ? {} : { signal });
    const { taskDir: place, dispatchId: id } = listing;
    if (id === undefined) {
      const error = 'error' in listing ? listing.error : null;
      yield { taskDir: place, dispatchId: null, redaction: null, kept: {}, error };
      continue;
    }
    try {
      yield await redactOne(store, redactor, { taskDir: place, dispatchId: id }, signal);
    } catch (failure) {
      if (!storeErrors.is(failure, 'STORE_DISPATCH_NOT_FOUND')) throw failure;
    }
  }
}

async function redactOne(
  store: DispatchStore,
  redactor: Redactor,
  dispatch: DispatchRef,
  signal: AbortSignal | undefined,
): Promise<RedactedDispatch> {
  try {
    const kept = await keptOf(store, redactor, dispatch, signal);
    return { ...dispatch, redaction: await store.redactDispatch(dispatch, redactor), kept, error: null };
  } catch (error) {
    const isPassedOver = passedOver.some((code) => storeErrors.is(error, code));
    if (!isPassedOver) throw error;
    return { ...dispatch, redaction: null, kept: {}, error: error as StoreError };
  }
}

async function keptOf(
  store: DispatchStore,
  redactor: Redactor,
  dispatch: DispatchRef,
  signal: AbortSignal | undefined,
): Promise<RedactionCounts> {
  const log = await store.openDispatch(dispatch);
  // `folded` repeats ids of events, which are counted there.
  const envelope = { ...log.envelope, folded: null };
  const counts: Record<string, number> = { ...redactor.keptIn(envelope, 'envelope') };
  for await (const { events } of log.pages()) {
    // A synchronous store would keep timers and signals waiting until the end.
    await nextTurn(undefined, signal === undefined ? {} : { signal });
    for (const event of events) addRedactions(counts, redactor.keptIn(event, 'event'));
  }
  for await (const { letter } of store.readLetters(dispatch))
    if (letter !== null) addRedactions(counts, redactor.keptIn({ letter }, 'envelope'));
  return counts;
}

/** An image, a document or a sound, in one or more dispatches. */
export interface FoundContent {
  readonly sha256: string;
  /** In bytes. */
  readonly size: number;
  /** As the first event that names it states it. Null: no event does. */
  readonly mediaType: string | null;
  /** How many dispatches have its bytes. */
  readonly dispatches: number;
  /** From how many dispatches its bytes were removed. */
  readonly removed: number;
}

/** The contents whose digest begins with one of some texts. Dispatches that cannot be read are omitted: `redactDispatches` reports them. */
export async function findContents(
  store: DispatchStore,
  beginnings: readonly string[],
  { taskDir, dispatchId, signal }: VerifyScope = {},
): Promise<readonly FoundContent[]> {
  const found = new Map<string, { -readonly [K in keyof FoundContent]: FoundContent[K] }>();
  const read = async (dispatch: DispatchRef) => {
    const log = await store.openDispatch(dispatch);
    for await (const { events } of log.pages()) {
      await nextTurn(undefined, signal === undefined ? {} : { signal });
      for (const event of events) {
        if (isReadableAs(event, 'content:stored')) {
          const { sha256, size } = event.data;
          // A narrative never had the bytes.
          const isNarrow = (event.data as JsonObject).leftOut !== undefined;
          if (isNarrow || !beginnings.some((beginning) => sha256.startsWith(beginning))) continue;
          const content = found.get(sha256) ?? { sha256, size, mediaType: null, dispatches: 0, removed: 0 };
          content[isRemovedContent(event.data) ? 'removed' : 'dispatches'] += 1;
          found.set(sha256, content);
        } else if (found.size > 0)
          for (const part of mediaPartsIn(event.data)) {
            const content = found.get(part.sha256 ?? '');
            if (content !== undefined) content.mediaType ??= part.mediaType ?? null;
          }
      }
    }
  };
  if (taskDir !== undefined && dispatchId !== undefined) await read({ taskDir, dispatchId });
  else
    for await (const listing of store.dispatches(taskDir === undefined ? {} : { taskDir }))
      if (listing.dispatchId !== undefined)
        await read({ taskDir: listing.taskDir, dispatchId: listing.dispatchId }).catch((error) => {
          if (!storeErrors.is(error)) throw error;
        });
  return [...found.values()];
}

/** A dispatch that has copies of another one's events. */
export interface CopiesElsewhere {
  readonly taskDir: string;
  readonly dispatchId: string;
  /** The dispatch whose events it has. */
  readonly of: DispatchRef;
  /** How many of its events are such copies. */
  readonly events: number;
}

/**
 * The dispatches outside of a part of the store that have copies of events of the dispatches inside: forks, continuations and their origins. With a
 * redactor, only copies with secrets count, and contents that it removes. A dispatch that cannot be read is omitted: `verifyDispatches` reports it.
 */
export async function findCopiesElsewhere(
  store: DispatchStore,
  isInside: (dispatch: DispatchRef) => boolean,
  { redactor, signal }: { readonly redactor?: Redactor; readonly signal?: AbortSignal | undefined } = {},
): Promise<readonly CopiesElsewhere[]> {
  const entries: DispatchEntry[] = [];
  for await (const entry of store.dispatches()) entries.push(entry);
  const among = new CopiesAmong(entries);
  const found: CopiesElsewhere[] = [];
  for (const entry of entries) {
    if ('error' in entry || !isInside(entry)) continue;
    const of = { taskDir: entry.taskDir, dispatchId: entry.dispatchId };
    for (const { events, ...other } of await among.shared(of)) {
      if (isInside(other)) continue;
      const count =
        redactor === undefined ? events.size : await withSecrets(store, other, events, redactor, signal);
      if (count > 0) found.push({ ...other, of, events: count });
    }
  }
  return found;
}

/** How many of some events have secrets, or bytes that are removed. */
async function withSecrets(
  store: DispatchStore,
  dispatch: DispatchRef,
  copies: ReadonlySet<string>,
  redactor: Redactor,
  signal: AbortSignal | undefined,
): Promise<number> {
  let count = 0;
  try {
    const log = await store.openDispatch(dispatch);
    for await (const { events } of log.pages()) {
      await nextTurn(undefined, signal === undefined ? {} : { signal });
      // Bytes have no identity of their own: equal ones are copies.
      for (const event of events)
        if ((copies.has(event.id) || event.type === 'content:stored') && redactor.event(event) !== event)
          count += 1;
    }
  } catch (error) {
    if (!storeErrors.is(error)) throw error;
  }
  return count;
}

/** The result for the record of one task that has a secret, or whose folder has one, or that cannot be read. */
export interface RedactedTask {
  readonly taskDir: string;
  /** The secrets that were replaced, by kind; empty: none. Null if an error prevented the change. */
  readonly counts: RedactionCounts | null;
  /** The secrets that stay, by kind: in the name of the folder, and in fields of the record such as the slug. */
  readonly kept: RedactionCounts;
  readonly error: StoreError | null;
}

/**
 * Replaces the secrets in the records of tasks: each is written again. The old record can remain in unused parts of the store's
 * files. One that cannot be read is reported, and the next one follows.
 */
export async function* redactTasks(
  store: DispatchStore,
  redactor: Redactor,
  { taskDir: only, signal }: Pick<VerifyScope, 'taskDir' | 'signal'> = {},
): AsyncGenerator<RedactedTask, undefined> {
  for (const { taskDir, task, error } of await store.listTasks()) {
    if (only !== undefined && taskDir !== only) continue;
    // Between two records: each is changed whole.
    await nextTurn(undefined, signal === undefined ? {} : { signal });
    const kept: Record<string, number> = { ...redactor.text(taskDir).counts };
    if (error !== undefined) yield { taskDir, counts: null, kept, error };
    else if (task === null) {
      if (hasAny(kept)) yield { taskDir, counts: {}, kept, error: null };
    } else {
      addRedactions(kept, redactor.keptIn(task, 'task'));
      const { value, counts } = redactor.task(task);
      if (hasAny(counts)) await store.putTask(taskDir, value);
      if (hasAny(counts) || hasAny(kept)) yield { taskDir, counts, kept, error: null };
    }
  }
}

function hasAny(counts: RedactionCounts): boolean {
  return Object.keys(counts).length > 0;
}
