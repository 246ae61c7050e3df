import assert from 'node:assert/strict';
import type { CapturedEvent, DispatchStoreProvider } from '@hansard/provider';
import type { CaseContext } from '../run/case-context.ts';
import { sameContent } from './expectations.ts';
import { sampleEnvelope, sampleEvent, sampleEvents, sampleTask } from './sample-data.ts';

/** The task and the dispatch of most cases. */
export const taskDir = 'research/tasks/route-models';
export const dispatchId = '01JQ00000000000000000000AA';

/** The content of a prepared store: a task with its record, and one dispatch with three events. */
export const prepared = {
  task: sampleTask('route-models'),
  envelope: sampleEnvelope(dispatchId),
  events: sampleEvents(3),
} as const;

/** An event that a case appends after those of the prepared store. */
export const late = sampleEvent('late');

export async function claim(store: DispatchStoreProvider): Promise<void> {
  await store.claimDispatch(taskDir, dispatchId);
}

export async function prepareStore(store: DispatchStoreProvider): Promise<void> {
  await store.putTask(taskDir, prepared.task);
  await beginDispatch(store, prepared.events);
}

/** The store has what {@link prepareStore} wrote, and nothing else in that task. */
export async function holdsPrepared(store: DispatchStoreProvider): Promise<void> {
  sameContent(await store.listTasks(), [{ taskDir, task: prepared.task }], 'listTasks afterwards');
  sameContent(
    await store.getDispatchEnvelopes(taskDir),
    [prepared.envelope],
    'getDispatchEnvelopes afterwards',
  );
  await holdsEvents(store, prepared.events);
}

/** Creates the dispatch of most cases, claimed and with these events. */
export async function beginDispatch(
  store: DispatchStoreProvider,
  events: readonly CapturedEvent[] = [],
): Promise<void> {
  await store.createDispatch(taskDir, prepared.envelope);
  if (events.length > 0) await store.appendEvents(taskDir, dispatchId, events);
}

/** Opens the data of a case again, and claims the dispatch of most cases. */
export async function reopenClaimed({ reopen }: Pick<CaseContext, 'reopen'>): Promise<DispatchStoreProvider> {
  const store = await reopen();
  await store.claimDispatch(taskDir, dispatchId);
  return store;
}

/** Fails unless each of the three ways to read returns exactly these events. */
export async function holdsEvents(
  store: DispatchStoreProvider,
  expected: readonly CapturedEvent[],
  place: { readonly taskDir: string; readonly dispatchId: string } = { taskDir, dispatchId },
): Promise<void> {
  const all = await store.getDispatchEvents(place.taskDir, place.dispatchId);
  sameContent(all, expected, 'getDispatchEvents');
  const recent = await store.getRecentEvents(place.taskDir, place.dispatchId, expected.length + 1);
  sameContent(recent, expected, 'getRecentEvents');
  // A page of large events has a part of them.
  const read: CapturedEvent[] = [];
  let next = -1;
  do {
    const options = { after: next, limit: expected.length + 1 };
    const page = await store.readEvents(place.taskDir, place.dispatchId, options);
    sameContent([page.first, page.next], [read.length, next + page.events.length], 'the places of a page');
    if (page.events.length === 0) break;
    read.push(...page.events);
    next = page.next;
  } while (read.length < expected.length);
  sameContent(read, expected, 'readEvents');
}

/** An optional method, which a capability requires. */
export function optionalMethod<
  Name extends
    | 'searchEvents'
    | 'watch'
    | 'deleteDispatch'
    | 'rewriteDispatch'
    | 'verifyDispatch'
    | 'acceptLoss'
    | 'adoptDispatches'
    | 'findClaim'
    | 'findClaims'
    | 'breakClaim',
>(store: DispatchStoreProvider, name: Name): NonNullable<DispatchStoreProvider[Name]> {
  const method = store[name];
  assert.equal(typeof method, 'function', `the capabilities claim ${name}, but the store has no such method`);
  return (method as CallableFunction).bind(store) as NonNullable<DispatchStoreProvider[Name]>;
}

/** Removes what rewrites left, in a store that can. Fails unless each place that remains is named in words. */
export async function remainsOf(store: DispatchStoreProvider): Promise<void> {
  for (const place of (await store.removeRemains?.()) ?? [])
    assert.ok(typeof place === 'string' && place.trim() !== '', 'removeRemains names a place without words');
}
