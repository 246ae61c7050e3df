import { setImmediate as nextTurn } from 'node:timers/promises';
import type { DispatchRef, DispatchStore } from '@hansard/dispatch';
import type { JsonValue } from '@hansard/events';
import { isStoreError, type StoreError } from '@hansard/provider';
import type { Redactor, SecretFinding } from '@hansard/redaction';
import type { VerifyScope } from './verify-dispatches.ts';

/** Where a stored dispatch has a secret, without the secret. */
export interface StoredSecret extends SecretFinding {
  readonly taskDir: string;
  readonly dispatchId: string;
  /** The position of the event. Null: in the envelope. */
  readonly position: number | null;
  /** The type of the event. Null: in the envelope. */
  readonly type: string | null;
}

/** What is reported after each dispatch: how many events were read, and why the rest could not be. */
export interface ScannedDispatch {
  readonly taskDir: string;
  /** Null: the entry of a listing that names no dispatch. */
  readonly dispatchId: string | null;
  readonly events: number;
  /** Null: everything was read. */
  readonly error: StoreError | null;
}

/** A secret, the number of events of a page that was read, or the end of a dispatch. */
export type ScanItem =
  | { readonly secret: StoredSecret; readonly read?: never; readonly scanned?: never }
  | { readonly read: number; readonly secret?: never; readonly scanned?: never }
  | { readonly scanned: ScannedDispatch; readonly secret?: never; readonly read?: never };

/**
 * Finds the secrets in the envelopes and events of a store, dispatch by dispatch, a page of events at a time. An item
 * never contains a secret. A dispatch that was deleted meanwhile is omitted; one that cannot be read completely is reported, and the next one follows.
 * @throws STORE_DISPATCH_NOT_FOUND for a `dispatchId` that does not exist, STORE_UNAVAILABLE if the dispatches cannot be listed
 */
export async function* scanSecrets(
  store: DispatchStore,
  redactor: Redactor,
  { taskDir, dispatchId, signal }: VerifyScope = {},
): AsyncGenerator<ScanItem, undefined> {
  if (taskDir !== undefined && dispatchId !== undefined) {
    yield* scanDispatch(store, redactor, { taskDir, dispatchId }, signal);
    return;
  }
  for await (const listing of store.dispatches(taskDir === undefined ? {} : { taskDir })) {
    if (listing.dispatchId === null) {
      const { taskDir: place, error } = listing;
      yield { scanned: { taskDir: place, dispatchId: null, events: 0, error: error ?? null } };
      continue;
    }
    const reference = { taskDir: listing.taskDir, dispatchId: listing.dispatchId };
    try {
      yield* scanDispatch(store, redactor, reference, signal);
    } catch (error) {
      if (!isStoreError(error, 'STORE_DISPATCH_NOT_FOUND')) throw error;
    }
  }
}

async function* scanDispatch(
  store: DispatchStore,
  redactor: Redactor,
  { taskDir, dispatchId }: DispatchRef,
  signal: AbortSignal | undefined,
): AsyncGenerator<ScanItem, undefined> {
  let events = 0;
  const found = (value: unknown, position: number | null, type: string | null) =>
    redactor
      .find(value as JsonValue)
      .map((finding) => ({ secret: { taskDir, dispatchId, position, type, ...finding } }));
  try {
    const log = await store.openDispatch({ taskDir, dispatchId });
    yield* found(log.envelope, null, null);
    for await (const page of log.pages()) {
      // A synchronous store would keep timers and signals waiting until the end.
      await nextTurn(undefined, signal === undefined ? {} : { signal });
      for (const [index, event] of page.events.entries()) yield* found(event, page.first + index, event.type);
      events += page.events.length;
      yield { read: page.events.length };
    }
    yield { scanned: { taskDir, dispatchId, events, error: null } };
  } catch (error) {
    if (!isUnreadable(error)) throw error;
    yield { scanned: { taskDir, dispatchId, events, error } };
  }
}

/** Whether an error concerns one dispatch. */
function isUnreadable(error: unknown): error is StoreError {
  return (['STORE_CORRUPT', 'STORE_UNAVAILABLE', 'STORE_INVALID_PATH'] as const).some((code) =>
    isStoreError(error, code),
  );
}
