import assert from 'node:assert/strict';
import type { CapturedEvent, DispatchStoreProvider } from '@hansard/provider';
import { sameContent } from '../../checks/expectations.ts';
import { dispatchId, holdsEvents, prepared, taskDir } from '../../checks/prepared-store.ts';
import { batchEvents, type Reply } from '../../processes/serve-store.ts';
import { type StoreProcess, startProcess } from '../../processes/store-process.ts';
import type { CaseContext } from '../../run/case-context.ts';
import { skipCase } from '../../run/conformance-case.ts';

/** A process that has claimed the dispatch and appends to it until it is refused. */
export async function startWriter(context: CaseContext, textLength: number): Promise<StoreProcess> {
  const child = await startProcess(context);
  const reply = await child.call('claimDispatch', taskDir, dispatchId);
  sameContent(codeOf(reply), null, 'claimDispatch of a free dispatch');
  child.send({ appendTo: [taskDir, dispatchId], prefix: 'writer', textLength });
  return child;
}

/** The lease of the store, for a case that waits for it. */
export function leaseOf({ leaseMs }: CaseContext): number {
  return leaseMs ?? skipCase('the options have no leaseMs, so the kit does not know how long to wait');
}

/** The code of a refusal; null for an answer. */
export function codeOf(reply: Reply | null): string | null {
  if (reply === null) return 'the process ended';
  return 'error' in reply ? `${reply.error}` : null;
}

/** Creates the dispatch of most cases, which no opening has claimed afterwards. */
export async function prepareFree({ store }: CaseContext): Promise<void> {
  await store.createDispatch(taskDir, prepared.envelope);
  await store.releaseDispatch(taskDir, dispatchId);
}

/** Creates it, and closes the store, for one that only one process opens. */
export async function prepareClosed(context: CaseContext): Promise<void> {
  await prepareFree(context);
  await context.store.close();
}

/** Batches that another process appends. */
interface Appended {
  readonly prefix: string;
  readonly textLength: number;
  /** The number of batches that it has acknowledged. */
  readonly acknowledged: number;
}

/**
 * The events from position `start` of a log that begins with these batches: all that were acknowledged, and at most one more,
 * which is whole. `after` are the events that follow. Claims the dispatch first: until then, what a killed process sent to a server
 * may still be stored.
 */
export async function holdsBatches(
  store: DispatchStoreProvider,
  before: readonly CapturedEvent[],
  { prefix, textLength, acknowledged }: Appended,
  after: readonly CapturedEvent[] = [],
): Promise<readonly CapturedEvent[]> {
  const batches = Array.from({ length: acknowledged + 1 }, (_, index) =>
    batchEvents({ prefix, index, textLength }),
  );
  await store.claimDispatch(taskDir, dispatchId);
  const stored = await store.getDispatchEvents(taskDir, dispatchId);
  const expected = [...before, ...batches.slice(0, acknowledged).flat()];
  const added = stored.length - expected.length - after.length;
  const last = batches[acknowledged] ?? [];
  assert.ok(
    added === 0 || added === last.length,
    `${stored.length} events are stored. The acknowledged ones are ${expected.length}, a batch of ${last.length} was under way, ` +
      `and ${after.length} were appended afterwards`,
  );
  const whole = [...expected, ...(added === 0 ? [] : last), ...after];
  sameContent(stored, whole, 'getDispatchEvents');
  await holdsEvents(store, whole);
  return whole;
}
