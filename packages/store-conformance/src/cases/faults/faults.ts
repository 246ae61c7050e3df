import assert from 'node:assert/strict';
import {
  type Awaitable,
  type CapturedEvent,
  type DispatchEnvelope,
  type DispatchStoreProvider,
  type StoreError,
  storeErrors,
} from '@hansard/provider';
import { describeError, sameContent } from '../../checks/expectations.ts';
import { holdsEvents, optionalMethod, taskDir } from '../../checks/prepared-store.ts';
import { sampleEnvelope, sampleEvent, sampleEvents } from '../../checks/sample-data.ts';
import type { CaseContext } from '../../run/case-context.ts';
import { caseFamily, type NamedCase, skipCase } from '../../run/conformance-case.ts';
import type { InjectedFault } from '../../run/store-under-test.ts';

/** The events of each dispatch before the call that fails. */
const before = sampleEvents(2, 'before');
/** More calls of the system than a method of a store makes. */
const mostCalls = 300;

const singleFaults: readonly Omit<InjectedFault, 'after'>[] = [
  { kind: 'EIO', isLasting: false },
  { kind: 'EMFILE', isLasting: false },
  { kind: 'ENOSPC', isLasting: false },
  { kind: 'short write', isLasting: false },
];
/** Passes by itself: another part of the process closes a file. */
const noDescriptor: readonly Omit<InjectedFault, 'after'>[] = [{ kind: 'EMFILE', isLasting: true }];
const fullDisk: readonly Omit<InjectedFault, 'after'>[] = [{ kind: 'ENOSPC', isLasting: true }];

/** One attempt, on a dispatch of its own that the opening has claimed. */
interface Attempt {
  readonly store: DispatchStoreProvider;
  readonly dispatchId: string;
  /** Whether the method failed, with a code. */
  readonly hasFailed: boolean;
  /** Null if it did not fail. */
  readonly error: StoreError | null;
}

/**
 * Calls a method again and again, each time on another dispatch, while the first of its calls of the system fails, then the second, and so
 * on until none does. `check` examines the result when the system works again.
 */
async function forEachFault(
  context: CaseContext,
  faults: readonly Omit<InjectedFault, 'after'>[],
  act: (store: DispatchStoreProvider, dispatchId: string) => Awaitable<unknown>,
  check: (attempt: Attempt) => Promise<void>,
): Promise<void> {
  const { store, faults: injected } = context;
  if (injected === undefined)
    skipCase('the fixture has no `faults`, which makes calls of the operating system fail');
  for (const fault of faults)
    for (let after = 0; ; after += 1) {
      assert.ok(after < mostCalls, `a call made the system fail ${mostCalls} times`);
      const dispatchId = `${fault.kind.replace(' ', '-')}${fault.isLasting ? '-lasting' : ''}-${after}`;
      await store.createDispatch(taskDir, sampleEnvelope(dispatchId));
      await store.appendEvents(taskDir, dispatchId, before);
      injected.begin({ ...fault, after });
      let error: unknown = null;
      let failedCalls = 0;
      try {
        await act(store, dispatchId);
      } catch (thrown) {
        error = thrown;
      } finally {
        failedCalls = injected.end();
      }
      try {
        if (error !== null && !storeErrors.is(error, 'STORE_UNAVAILABLE')) throw error;
        assert.ok(error === null || failedCalls > 0, 'it failed although no call of the system did');
        await check({ store, dispatchId, hasFailed: error !== null, error });
      } catch (cause) {
        throw new Error(
          `After ${fault.kind} in call ${after + 1}${fault.isLasting ? ' and all later ones' : ''}: ${describeError(cause)}`,
          { cause },
        );
      }
      if (failedCalls === 0) break;
    }
}

const last = sampleEvent('last');
const needs = ['durability'] as const;

const appending = (
  name: string,
  title: string,
  faults: typeof singleFaults,
  events: readonly CapturedEvent[],
): NamedCase => ({
  name,
  rule: 2,
  title,
  needs,
  run: async (context) => {
    const written: string[] = [];
    const append = async (store: DispatchStoreProvider, dispatchId: string) => {
      const [only] = events;
      if (events.length === 1 && only !== undefined) await store.appendEvent(taskDir, dispatchId, only);
      else await store.appendEvents(taskDir, dispatchId, events);
    };
    await forEachFault(context, faults, append, async ({ store, dispatchId, hasFailed }) => {
      const stored = await store.getDispatchEvents(taskDir, dispatchId);
      const isThere = !hasFailed || stored.length > before.length;
      sameContent(stored, isThere ? [...before, ...events] : before, 'the events after the append');
      await append(store, dispatchId);
      await store.appendEvent(taskDir, dispatchId, last);
      await holdsEvents(store, [...before, ...events, last], { taskDir, dispatchId });
      written.push(dispatchId);
    });
    await holdAll(context, written, [...before, ...events, last]);
  },
});

/** A call of the operating system fails, and later ones succeed. */
export const faultCases = caseFamily('faults', [
  appending(
    'append',
    'an append during which a call of the system fails is stored or not, and can be repeated in the same process',
    singleFaults,
    [sampleEvent('next', 'x'.repeat(2_000))],
  ),
  appending(
    'batch',
    'a batch during which a call of the system fails is stored whole or not at all, and can be repeated',
    singleFaults,
    sampleEvents(3, 'next'),
  ),
  appending(
    'full-disk',
    'a disk that is full from any call of a batch on loses nothing that was acknowledged, and the process continues when there is space',
    fullDisk,
    sampleEvents(3, 'next'),
  ),
  {
    name: 'transient',
    rule: 2,
    title:
      'the error of a process without free descriptors is transient, and that of a full disk is not, because it does not pass by itself',
    needs,
    run: async (context) => {
      for (const [faults, isTransient] of [
        [noDescriptor, true],
        [fullDisk, false],
      ] as const)
        await forEachFault(context, faults, writeAndRead, async ({ error }) => {
          if (error !== null)
            assert.equal(error.isTransient, isTransient, `isTransient of “${error.message}”`);
        });
    },
  },
  {
    name: 'update',
    rule: 7,
    title:
      'an update during which a call of the system fails leaves the envelope before or after it, and can be repeated',
    needs,
    run: (context) => {
      const updates = { cost: 7, structuredResult: 'x'.repeat(3_000) };
      return forEachFault(
        context,
        singleFaults,
        (store, dispatchId) => store.updateDispatch(taskDir, dispatchId, updates),
        async ({ store, dispatchId, hasFailed }) => {
          const old = sampleEnvelope(dispatchId);
          const envelope = await store.getDispatchEnvelope(taskDir, dispatchId);
          const isOld = hasFailed && envelope?.cost === null;
          sameContent(envelope, isOld ? old : { ...old, ...updates }, 'the envelope after the update');
          const updated = await store.updateDispatch(taskDir, dispatchId, updates);
          sameContent(updated, { ...old, ...updates }, 'the envelope that is returned');
          await store.appendEvent(taskDir, dispatchId, last);
          await holdsEvents(store, [...before, last], { taskDir, dispatchId });
        },
      );
    },
  },
  {
    name: 'rewrite',
    rule: 7,
    title:
      'a rewrite during which a call of the system fails leaves the old content or the new, whole, and can be repeated',
    needs: ['durability', 'rewrite'],
    run: (context) => {
      const notice = sampleEvent('notice');
      const rewritten = (event: CapturedEvent): CapturedEvent => ({ ...event, data: { text: 'censored' } });
      const rewrite = {
        envelope: (envelope: DispatchEnvelope) => ({ ...envelope, role: 'censored' }),
        event: (event: CapturedEvent) => (event.id === notice.id ? event : rewritten(event)),
        notice: () => notice,
      };
      const rewriteIn = (store: DispatchStoreProvider, dispatchId: string) =>
        optionalMethod(store, 'rewriteDispatch')(taskDir, dispatchId, rewrite);
      return forEachFault(context, singleFaults, rewriteIn, async ({ store, dispatchId, hasFailed }) => {
        const old = sampleEnvelope(dispatchId);
        const next = [...before.map(rewritten), notice];
        const envelope = await store.getDispatchEnvelope(taskDir, dispatchId);
        const isOld = hasFailed && envelope?.role !== 'censored';
        sameContent(envelope, isOld ? old : { ...old, role: 'censored' }, 'the envelope after the rewrite');
        await holdsEvents(store, isOld ? before : next, { taskDir, dispatchId });
        if (isOld) await rewriteIn(store, dispatchId);
        await store.appendEvent(taskDir, dispatchId, last);
        await holdsEvents(store, [...next, last], { taskDir, dispatchId });
        // A store may read every running dispatch of the task again.
        await store.updateDispatch(taskDir, dispatchId, { status: 'completed' });
      });
    },
  },
  {
    name: 'create',
    rule: 7,
    title:
      'a creation during which a call of the system fails leaves a dispatch that can be used, or created again',
    needs,
    run: async (context) => {
      const created: string[] = [];
      await forEachFault(
        context,
        [...singleFaults, ...fullDisk],
        (store, dispatchId) => store.createDispatch(taskDir, sampleEnvelope(`new-${dispatchId}`)),
        async ({ store, dispatchId: other, hasFailed }) => {
          const dispatchId = `new-${other}`;
          const envelope = await store.getDispatchEnvelope(taskDir, dispatchId);
          assert.ok(envelope !== null || hasFailed, 'the created dispatch is missing');
          if (envelope === null) await store.createDispatch(taskDir, sampleEnvelope(dispatchId));
          else sameContent(envelope, sampleEnvelope(dispatchId), 'the envelope of the new dispatch');
          await store.claimDispatch(taskDir, dispatchId);
          await store.appendEvent(taskDir, dispatchId, last);
          await holdsEvents(store, [last], { taskDir, dispatchId });
          created.push(dispatchId);
        },
      );
      const listed = await context.store.getDispatchEnvelopes(taskDir);
      for (const id of created)
        assert.ok(
          listed.some(({ dispatchId }) => dispatchId === id),
          `${id} is not listed`,
        );
    },
  },
  {
    name: 'claim',
    rule: 6,
    title: 'a claim during which a call of the system fails locks nobody out',
    needs,
    run: (context) =>
      forEachFault(
        context,
        [...singleFaults, ...fullDisk],
        async (store, dispatchId) => {
          // The release before belongs to the attempt: only a free dispatch can be claimed.
          await store.releaseDispatch(taskDir, dispatchId);
          await store.claimDispatch(taskDir, dispatchId);
        },
        writesAgain,
      ),
  },
  {
    name: 'release',
    rule: 6,
    title: 'a release during which a call of the system fails never locks a process out of its own dispatch',
    needs,
    run: (context) =>
      forEachFault(
        context,
        [...singleFaults, ...fullDisk],
        (store, dispatchId) => store.releaseDispatch(taskDir, dispatchId),
        async (attempt) => {
          await writesAgain(attempt);
          const { store, dispatchId } = attempt;
          await store.updateDispatch(taskDir, dispatchId, { status: 'completed' });
          await store.releaseDispatch(taskDir, dispatchId);
          if (context.capabilities.writers !== 'dispatch') return;
          const other = await context.openBeside();
          await other.claimDispatch(taskDir, dispatchId);
          await other.releaseDispatch(taskDir, dispatchId);
          await other.close();
        },
      ),
  },
]);

/** Fails unless the opening can claim the dispatch and write to it. */
async function writesAgain({ store, dispatchId }: Attempt): Promise<void> {
  await store.claimDispatch(taskDir, dispatchId);
  await store.appendEvent(taskDir, dispatchId, last);
  await holdsEvents(store, [...before, last], { taskDir, dispatchId });
}

/** Opens the store again: each dispatch must have these events. */
async function holdAll(
  { reopen }: CaseContext,
  dispatchIds: readonly string[],
  events: readonly CapturedEvent[],
): Promise<void> {
  const store = await reopen();
  for (const dispatchId of dispatchIds) await holdsEvents(store, events, { taskDir, dispatchId });
}

async function writeAndRead(store: DispatchStoreProvider, dispatchId: string): Promise<void> {
  await store.appendEvents(taskDir, dispatchId, sampleEvents(2, 'next'));
  await store.updateDispatch(taskDir, dispatchId, { cost: 7 });
  await store.createDispatch(taskDir, sampleEnvelope(`new-${dispatchId}`));
  await store.getDispatchEvents(taskDir, dispatchId);
}
