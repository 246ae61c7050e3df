import assert from 'node:assert/strict';
import { type CapturedEvent, type DispatchStoreProvider, storeErrors } from '@hansard/provider';
import { describeError, sameContent } from '../../checks/expectations.ts';
import { dispatchId, prepared, taskDir } from '../../checks/prepared-store.ts';
import { sampleEvents } from '../../checks/sample-data.ts';
import { createRandom } from '../../model/random.ts';
import { chooseSeed } from '../../model/seed.ts';
import type { CaseContext } from '../../run/case-context.ts';
import { skipCase } from '../../run/conformance-case.ts';
import type { Change } from './changes.ts';

/** The most changes that a case makes. Of more bytes each run chooses others. */
const mostChanges = 1_500;
/** The same for the file of a whole database, which takes longer to open. */
const mostSharedChanges = 250;
export const events = sampleEvents(6);
const envelope = { ...prepared.envelope, status: 'completed' as const };

/** The answer of a read; null if it is refused as STORE_CORRUPT and the bytes keep more than the dispatch. */
export type Attempt = <Answer>(read: () => Promise<Answer> | Answer) => Promise<Answer | null>;

/** Creates an ended dispatch that nobody has claimed, closes the store, and makes one change after the other to its bytes. */
export async function forEachChange(
  context: CaseContext,
  changes: (bytes: Uint8Array) => readonly Change[],
  check: (store: DispatchStoreProvider, unlessShared: Attempt) => Promise<void>,
): Promise<void> {
  const { damage } = context;
  if (damage === undefined)
    skipCase('the fixture has no `damage`, which gives the stored bytes of a dispatch');
  await context.store.createDispatch(taskDir, prepared.envelope);
  await context.store.appendEvents(taskDir, dispatchId, events);
  await context.store.updateDispatch(taskDir, dispatchId, { status: 'completed' });
  await context.store.releaseDispatch(taskDir, dispatchId);
  await context.store.close();
  const stored = await damage(taskDir, dispatchId);
  const original = new Uint8Array(stored.bytes);
  const unlessShared: Attempt = stored.isShared ? unlessRefused : async (read) => read();
  const random = createRandom(chooseSeed(context.seed));
  const all = changes(original);
  const most = stored.isShared ? mostSharedChanges : mostChanges;
  const chosen = all.length <= most ? all : Array.from({ length: most }, () => all[random.below(all.length)]);
  for (const change of chosen) {
    if (change === undefined) continue;
    await stored.write(change.apply(original));
    context.count('changes');
    try {
      const store = await reopened(context, stored.isShared ?? false);
      if (store === null) continue;
      await check(store, unlessShared);
      await store.close();
    } catch (error) {
      throw new Error(`After ${change.name} of ${original.length} bytes: ${describeError(error)}`, {
        cause: error,
      });
    }
  }
}

/** The store; null if damage of a file that keeps all dispatches made it refuse to open, also as the file of something else. */
async function reopened(context: CaseContext, isShared: boolean): Promise<DispatchStoreProvider | null> {
  try {
    return await context.reopen();
  } catch (error) {
    const isRefused = storeErrors.is(error, 'STORE_CORRUPT') || storeErrors.is(error, 'STORE_UNAVAILABLE');
    if (isShared && isRefused) return null;
    throw error;
  }
}

/** Fails unless everything that is read is equal, or refused as STORE_CORRUPT with its place. Returns whether all is equal. */
export async function isWholeOrRefused(store: DispatchStoreProvider): Promise<boolean> {
  const reads = {
    getDispatchEvents: async () =>
      sameContent(await store.getDispatchEvents(taskDir, dispatchId), events, 'getDispatchEvents'),
    readEvents: async () =>
      sameContent((await store.readEvents(taskDir, dispatchId, { limit: 100 })).events, events, 'readEvents'),
    'readEvents of the last': async () =>
      sameContent(
        await store.readEvents(taskDir, dispatchId, { last: 2 }),
        { events: events.slice(4), first: 4, next: 5 },
        'readEvents',
      ),
    getDispatchEnvelope: async () =>
      sameContent(await store.getDispatchEnvelope(taskDir, dispatchId), envelope, 'getDispatchEnvelope'),
  };
  let refusals = 0;
  for (const [what, read] of Object.entries(reads)) {
    try {
      await read();
    } catch (error) {
      if (!storeErrors.is(error, 'STORE_CORRUPT')) throw error;
      const { file } = error.details as { readonly file?: unknown };
      assert.equal(typeof file, 'string', `the STORE_CORRUPT of ${what} has no details.file`);
      refusals += 1;
    }
  }
  return refusals === 0;
}

/** Null where the envelope cannot be read, so that no event can either. */
export async function unlessRefused<Answer>(read: () => Promise<Answer> | Answer): Promise<Answer | null> {
  try {
    return await read();
  } catch (error) {
    if (storeErrors.is(error, 'STORE_CORRUPT')) return null;
    throw error;
  }
}

/** The appended events that these are, each as it was appended. */
export function inOrder(found: readonly CapturedEvent[]): readonly CapturedEvent[] {
  const ids = new Set(found.map(({ id }) => id));
  return events.filter(({ id }) => ids.has(id));
}
