import assert from 'node:assert/strict';
import {
  type CapturedEvent,
  type DispatchListing,
  type DispatchStoreProvider,
  type StoreError,
  storeErrors,
} from '@hansard/provider';
import { describeError, errorsOf, sameContent } from '../../checks/expectations.ts';
import { dispatchId, optionalMethod, prepared, taskDir } from '../../checks/prepared-store.ts';
import { sampleEnvelope, sampleEvent, sampleEvents } from '../../checks/sample-data.ts';
import { chooseSeed, createRandom } from '../../model/random.ts';
import type { CaseContext } from '../../run/case-context.ts';
import { caseFamily, lacksMeans, type NamedCase } from '../../run/conformance-case.ts';
import { type Change, cuts, flips, inserted, removedRanges } from './changes.ts';

/** The most changes that a case makes. Of more bytes each run chooses others. */
const mostChanges = 1_500;
/** The same for the file of a whole database, which takes longer to open. */
const mostSharedChanges = 250;
const events = sampleEvents(6);
const envelope = { ...prepared.envelope, status: 'completed' as const };

/** The answer of a read; null if it is refused as STORE_CORRUPT and the bytes keep more than the dispatch. */
type Attempt = <Answer>(read: () => Promise<Answer> | Answer) => Promise<Answer | null>;

/** Creates an ended dispatch that nobody has claimed, closes the store, and makes one change after the other to its bytes. */
async function forEachChange(
  context: CaseContext,
  changes: (bytes: Uint8Array) => readonly Change[],
  check: (store: DispatchStoreProvider, unlessShared: Attempt) => Promise<void>,
): Promise<void> {
  const { damage } = context;
  if (damage === undefined)
    lacksMeans(
      "integrity: 'checksum'",
      'the fixture has no `damage`, which gives the stored bytes of a dispatch',
    );
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

/** Fails unless everything that is read is equal, or refused with its place. Returns whether all is equal. */
async function isWholeOrRefused(store: DispatchStoreProvider): Promise<boolean> {
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
      if (!isDamageRefusal(error)) throw error;
      const { file } = error.details as { readonly file?: unknown };
      assert.equal(typeof file, 'string', `the ${error.code} of ${what} has no details.file`);
      refusals += 1;
    }
  }
  return refusals === 0;
}

/** Null where the envelope cannot be read, so that no event can either. */
async function unlessRefused<Answer>(read: () => Promise<Answer> | Answer): Promise<Answer | null> {
  try {
    return await read();
  } catch (error) {
    if (isDamageRefusal(error)) return null;
    throw error;
  }
}

/** Whether an error refuses damage. A changed byte of a name reads as a log under another name. */
function isDamageRefusal(error: unknown): error is StoreError {
  return storeErrors.is(error, 'STORE_CORRUPT') || storeErrors.is(error, 'STORE_MISPLACED');
}

/** The appended events that these are, each as it was appended. */
function inOrder(found: readonly CapturedEvent[]): readonly CapturedEvent[] {
  const ids = new Set(found.map(({ id }) => id));
  return events.filter(({ id }) => ids.has(id));
}

const detected = (
  name: string,
  what: string,
  changes: (bytes: Uint8Array) => readonly Change[],
): NamedCase => ({
  name,
  rule: 7,
  title: `${what} is STORE_CORRUPT with its place, or everything that is read is equal`,
  needs: ['durability', 'integrity'],
  run: (context) => forEachChange(context, changes, async (store) => void (await isWholeOrRefused(store))),
});

/** The stored bytes change while the store is closed. */
export const damageCases = caseFamily('damage', [
  detected('flipped-bits', 'one changed bit, at every byte,', flips),
  detected('cut', 'a log that was cut, at every byte,', cuts),
  detected('removed', 'a range of bytes that is missing', removedRanges),
  detected('doubled', 'a range of bytes that is doubled, filled with zeros, or moved', inserted),
  {
    name: 'no-uncoded-error',
    rule: 7,
    title: 'changed or missing bytes never lead to an error without a code, with checksums or without',
    needs: ['durability'],
    run: (context) =>
      forEachChange(
        context,
        (bytes) => [...flips(bytes), ...cuts(bytes)],
        async (store) => {
          const reads = [
            () => store.getDispatchEvents(taskDir, dispatchId),
            () => store.readEvents(taskDir, dispatchId, { last: 2 }),
            () => store.getDispatchEnvelope(taskDir, dispatchId),
            () => store.listTasks(),
          ];
          for (const read of reads) {
            try {
              await read();
            } catch (error) {
              if (!storeErrors.is(error)) throw error;
            }
          }
        },
      ),
  },
  {
    name: 'counted',
    rule: 7,
    title: 'STORE_CORRUPT says how many events before the damage are whole, as verifyDispatch does',
    needs: ['durability', 'integrity'],
    run: (context) =>
      forEachChange(context, flips, async (store, unlessShared) => {
        const verify = () => optionalMethod(store, 'verifyDispatch')(taskDir, dispatchId);
        const verification = await unlessShared(verify);
        if (verification === null) return;
        const { damages, wholeEvents } = verification;
        assert.ok(wholeEvents <= events.length, `${wholeEvents} events are whole of ${events.length}`);
        const isWhole = await isWholeOrRefused(store);
        assert.ok(isWhole || damages.length > 0, 'a read is refused, and verifyDispatch finds no damage');
        for (const { eventsBefore, offset, reason } of damages) {
          assert.ok(
            eventsBefore <= wholeEvents && offset >= 0,
            `${eventsBefore} of ${wholeEvents} whole events are before ${offset}`,
          );
          assert.ok(reason.length > 0, 'a damage has no reason');
        }
        try {
          await store.getDispatchEvents(taskDir, dispatchId);
        } catch (error) {
          const { wholeEvents: before } = (storeErrors.is(error) ? error.details : {}) as {
            readonly wholeEvents?: number;
          };
          assert.equal(
            before,
            damages[0]?.eventsBefore,
            'details.wholeEvents beside the first of the damages',
          );
        }
      }),
  },
  {
    name: 'skipped',
    rule: 7,
    title: 'the whole events of a damaged dispatch can be read in order, and never a damaged one',
    needs: ['durability', 'integrity'],
    run: (context) =>
      forEachChange(
        context,
        (bytes) => [...flips(bytes), ...removedRanges(bytes)],
        async (store, unlessShared) => {
          const verify = () => optionalMethod(store, 'verifyDispatch')(taskDir, dispatchId);
          const verification = await unlessShared(verify);
          if (verification === null) return;
          const { wholeEvents } = verification;
          const options = { limit: 100, skipDamaged: true };
          const page = await unlessRefused(() => store.readEvents(taskDir, dispatchId, options));
          if (page === null) return;
          sameContent(page.events, inOrder(page.events), 'the whole events');
          assert.equal(page.events.length, wholeEvents, 'the number of whole events that are read');
        },
      ),
  },
  {
    name: 'accepted',
    rule: 7,
    title:
      'an accepted loss leaves the whole events, then the notice, and a dispatch that can be written again',
    needs: ['durability', 'integrity'],
    run: (context) =>
      forEachChange(
        context,
        (bytes) => flips(bytes).filter((_, index) => index % 7 === 0),
        async (store, unlessShared) => {
          const whole = await unlessRefused(() =>
            store.readEvents(taskDir, dispatchId, { limit: 100, skipDamaged: true }),
          );
          if (whole === null) return;
          const notice = { ...sampleEvent('notice'), type: 'system:notice' as const };
          const found = await unlessRefused(() =>
            optionalMethod(store, 'acceptLoss')(taskDir, dispatchId, notice),
          );
          if (found === null) return;
          const kept = found.damages.length === 0 ? events : [...whole.events, notice];
          // In a damaged file that keeps more than the dispatch, a copy may not fit.
          await unlessShared(async () => {
            sameContent(
              await store.getDispatchEvents(taskDir, dispatchId),
              kept,
              'the events after the loss was accepted',
            );
            await store.claimDispatch(taskDir, dispatchId);
            await store.appendEvent(taskDir, dispatchId, sampleEvent('late'));
            sameContent(
              (await store.readEvents(taskDir, dispatchId, { last: 0 })).first,
              kept.length + 1,
              'the number of events',
            );
            const { damages } = await optionalMethod(store, 'verifyDispatch')(taskDir, dispatchId);
            sameContent(damages, [], 'the damages afterwards');
          });
        },
      ),
  },
  {
    name: 'others-untouched',
    rule: 7,
    title: 'a damaged dispatch hides no other dispatch and no task',
    needs: ['durability', 'integrity'],
    run: async (context) => {
      await context.store.putTask('other/task', prepared.task);
      await context.store.createDispatch('other/task', sampleEnvelope('OTHER', { status: 'completed' }));
      await forEachChange(
        context,
        (bytes) => flips(bytes).filter((_, index) => index % 11 === 0),
        async (store, unlessShared) => {
          if (await isWholeOrRefused(store)) return;
          const same = async <Answer>(what: string, expected: Answer, read: () => Promise<Answer>) => {
            const found = await unlessShared(async () => ({ answer: await read() }));
            if (found !== null) sameContent(found.answer, expected, what);
          };
          await same('findTask of another task', prepared.task, async () => store.findTask('other/task'));
          await same(
            'the dispatches of another task',
            1,
            async () => (await store.getDispatchEnvelopes('other/task')).length,
          );
          await same('the tasks that are listed', ['other/task', taskDir], async () =>
            (await store.listTasks()).map((listing) => listing.taskDir),
          );
        },
      );
    },
  },
  {
    name: 'listed',
    rule: 7,
    title:
      'a dispatch that cannot be read is an entry with its error after all others, in both orders, and no status hides it',
    needs: ['durability', 'integrity'],
    run: async (context) => {
      for (const [task, id] of [
        ['a/task', 'BEFORE'],
        ['z/task', 'AFTER'],
      ] as const)
        await context.store.createDispatch(task, sampleEnvelope(id, { status: 'completed' }));
      await forEachChange(
        context,
        (bytes) => flips(bytes).filter((_, index) => index % 11 === 0),
        async (store, unlessShared) => {
          const refusal = await errorsOf([() => store.getDispatchEnvelope(taskDir, dispatchId)]);
          for (const order of ['oldest', 'newest'] as const) {
            const listed = await unlessShared(() => listOneByOne(store, order));
            if (listed === null) continue;
            const ids = listed.map((entry) => entry.dispatchId);
            const expected =
              order === 'newest' ? ['AFTER', dispatchId, 'BEFORE'] : ['BEFORE', dispatchId, 'AFTER'];
            // Damage of a file that keeps all dispatches can be in any of them, and in the list of a task.
            const isDamaged = (id: string) =>
              unlessShared === unlessRefused
                ? !listed.some((entry) => entry.dispatchId === id && entry.envelope !== null)
                : refusal.length > 0 && id === dispatchId;
            const readable = expected.filter((id) => !isDamaged(id));
            sameContent(ids.slice(0, readable.length), readable, `the ids, ${order} first`);
            const damaged = ids.slice(readable.length);
            if (unlessShared === unlessRefused)
              assert.ok(
                readable.length === 3 || damaged.length > 0,
                'a dispatch is missing without an error',
              );
            else sameContent(damaged, expected.filter(isDamaged), `the damaged ids, ${order} first`);
          }
        },
      );
    },
  },
]);

/** Every entry, in pages of one. */
async function listOneByOne(
  store: DispatchStoreProvider,
  order: 'oldest' | 'newest',
): Promise<DispatchListing[]> {
  const listed: DispatchListing[] = [];
  for (let after: string | null | undefined; after !== null; ) {
    const options = { order, limit: 1, status: ['completed' as const] };
    const page = await store.listDispatches(after === undefined ? options : { ...options, after });
    for (const { dispatchId: id, envelope, lastActiveAt, error } of page.dispatches) {
      assert.equal(envelope === null, storeErrors.is(error), `the envelope and the error of ${id}`);
      if (envelope === null) assert.equal(lastActiveAt, null, `lastActiveAt of ${id}`);
    }
    listed.push(...page.dispatches);
    after = page.next;
    assert.ok(listed.length < 10, 'the pages have no end');
  }
  return listed;
}
