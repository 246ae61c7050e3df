import { createHash } from 'node:crypto';
import type { DispatchRef, DispatchStore } from '@hansard/dispatch';
import { type CapturedEvent, encodeEvent, isEventOf, replacedField, toTimestamp } from '@hansard/events';
import { storeErrors } from '@hansard/provider';

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
