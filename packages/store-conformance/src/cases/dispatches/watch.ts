import assert from 'node:assert/strict';
import type { Awaitable, DispatchStoreProvider, WatchScope } from '@hansard/provider';
import { createChangeListener } from '../../checks/change-listener.ts';
import { beginDispatch, dispatchId, optionalMethod, prepared, taskDir } from '../../checks/prepared-store.ts';
import { sampleEnvelope, sampleEvent, sampleEvents, sampleTask } from '../../checks/sample-data.ts';
import { caseFamily } from '../../run/conformance-case.ts';

/** How often other dispatches change while one is watched. */
const changesOfOthers = 40;
/** Reports of changes that were made just before a listener began may still arrive. */
const changesBefore = 20;

export const watchCases = caseFamily('watch', [
  {
    name: 'appends',
    rule: null,
    title: 'a listener is called after an append, and reads the event',
    needs: ['watch'],
    run: async ({ store }) => {
      await beginDispatch(store, prepared.events);
      const listener = createChangeListener();
      const stop = await optionalMethod(store, 'watch')({ taskDir, dispatchId }, listener.listen);
      for (const [index, event] of sampleEvents(3, 'watched').entries()) {
        if (index < 2) await store.appendEvent(taskDir, dispatchId, event);
        else await store.appendEvents(taskDir, dispatchId, [event]);
        await listener.calledUntil(`for ${event.id}`, async () => {
          const [last] = await store.getRecentEvents(taskDir, dispatchId, 1);
          return last?.id === event.id;
        });
      }
      stop();
    },
  },
  {
    name: 'updates',
    rule: null,
    title: 'a listener is called after the envelope changed',
    needs: ['watch'],
    run: async ({ store }) => {
      await beginDispatch(store, prepared.events);
      const listener = createChangeListener();
      const stop = await optionalMethod(store, 'watch')({ taskDir, dispatchId }, listener.listen);
      await store.updateDispatch(taskDir, dispatchId, { status: 'completed' });
      await listener.calledUntil('for the changed envelope', async () => {
        const envelope = await store.getDispatchEnvelope(taskDir, dispatchId);
        return envelope?.status === 'completed';
      });
      stop();
    },
  },
  {
    name: 'stop',
    rule: null,
    title: 'a listener that was stopped is not called again while others are; stopping twice is safe',
    needs: ['watch'],
    run: async ({ store }) => {
      await beginDispatch(store);
      const watch = optionalMethod(store, 'watch');
      const listener = createChangeListener();
      let callsOfStopped = 0;
      const count = () => {
        callsOfStopped += 1;
      };
      const stopFirst = await watch({ taskDir, dispatchId }, count);
      const stopOther = await watch({ taskDir, dispatchId }, listener.listen);
      stopFirst();
      stopFirst();
      const before = callsOfStopped;
      await store.appendEvent(taskDir, dispatchId, sampleEvent('one'));
      await listener.calledUntil('while another one was stopped', async () => true);
      assert.equal(callsOfStopped, before, 'the stopped listener was called');
      stopOther();
    },
  },
  {
    name: 'stop-after-close',
    rule: 9,
    title: 'closing a store stops its listeners, and stopping a listener afterwards is safe',
    needs: ['watch'],
    run: async ({ store }) => {
      await beginDispatch(store);
      const stop = await optionalMethod(store, 'watch')({ taskDir, dispatchId }, () => {});
      await store.close();
      stop();
    },
  },
  {
    name: 'another-opening',
    rule: 6,
    title: 'a listener is called for an append by another opening of the store',
    needs: ['watch', 'durability', 'writers'],
    run: async ({ store, openBeside }) => {
      await beginDispatch(store);
      const other = await openBeside();
      const listener = createChangeListener();
      const stop = await optionalMethod(other, 'watch')({ taskDir, dispatchId }, listener.listen);
      await store.appendEvent(taskDir, dispatchId, sampleEvent('one'));
      await listener.calledUntil('for the event of the other opening', async () => {
        const events = await other.getDispatchEvents(taskDir, dispatchId);
        return events.length === 1;
      });
      stop();
    },
  },
  {
    name: 'task',
    rule: null,
    title: 'a listener of a task, which need not exist yet, is called for its record and its dispatches',
    needs: ['watch'],
    run: async ({ store }) => isCalledFor(store, store, { taskDir }),
  },
  {
    name: 'store',
    rule: null,
    title: 'a listener of the whole store is called for every task and dispatch',
    needs: ['watch'],
    run: async ({ store }) => isCalledFor(store, store, {}),
  },
  {
    name: 'bounded',
    rule: 6,
    title:
      'a listener is called for each change of its scope by another opening, and not more often than the store changes',
    needs: ['watch', 'durability', 'writers'],
    run: async ({ store, openBeside }) => {
      const besides = [
        { taskDir, dispatchId: 'BESIDE' },
        { taskDir: `${taskDir}/below`, dispatchId },
      ];
      await beginDispatch(store);
      for (const beside of besides)
        await store.createDispatch(beside.taskDir, sampleEnvelope(beside.dispatchId));
      const other = await openBeside();
      const watch = optionalMethod(other, 'watch');
      const listened = await Promise.all(
        [{}, { taskDir }, { taskDir, dispatchId }].map(async (scope) => {
          const listener = createChangeListener();
          const seen = { scope, listener, calls: 0, stop: () => {} };
          seen.stop = await watch(scope, () => {
            seen.calls += 1;
            listener.listen();
          });
          return seen;
        }),
      );
      let changes = 0;
      for (const beside of besides)
        for (const event of sampleEvents(changesOfOthers, 'beside')) {
          await store.appendEvent(beside.taskDir, beside.dispatchId, event);
          changes += 1;
        }
      await store.appendEvent(taskDir, dispatchId, sampleEvent('last'));
      for (const one of listened) {
        const { scope, listener, stop } = one;
        await listener.calledUntil(`for the last event of ${JSON.stringify(scope)}`, async () => {
          const events = await other.getDispatchEvents(taskDir, dispatchId);
          return events.length === 1;
        });
        stop();
        assert.ok(
          one.calls <= changes + 1 + changesBefore,
          `a listener of ${JSON.stringify(scope)} was called ${one.calls} times for ${changes + 1} changes`,
        );
      }
    },
  },
  {
    name: 'task-of-another-opening',
    rule: 6,
    title: 'a listener of a task, or of the whole store, is called for what another opening changes',
    needs: ['watch', 'durability', 'writers'],
    run: async ({ store, openBeside }) => {
      const other = await openBeside();
      await isCalledFor(store, other, { taskDir });
      await isCalledFor(store, other, {}, 'again');
    },
  },
]);

/** Fails unless a listener of `scope` is called after each kind of change in it, and sees it. */
async function isCalledFor(
  writer: DispatchStoreProvider,
  reader: DispatchStoreProvider,
  scope: WatchScope,
  id = 'WATCHED',
): Promise<void> {
  const listener = createChangeListener();
  const stop = await optionalMethod(reader, 'watch')(scope, listener.listen);
  const envelope = async () => reader.getDispatchEnvelope(taskDir, id);
  const changes: ReadonlyArray<
    readonly [what: string, change: () => Awaitable<unknown>, isSeen: () => Promise<boolean>]
  > = [
    [
      'the record of the task',
      () => writer.putTask(taskDir, sampleTask('watched', { name: id })),
      async () => (await reader.findTask(taskDir))?.name === id,
    ],
    [
      'a new dispatch',
      () => writer.createDispatch(taskDir, sampleEnvelope(id)),
      async () => (await envelope()) !== null,
    ],
    [
      'an event',
      () => writer.appendEvent(taskDir, id, sampleEvent('one')),
      async () => (await reader.getDispatchEvents(taskDir, id)).length === 1,
    ],
    [
      'a changed envelope',
      () => writer.updateDispatch(taskDir, id, { status: 'completed' }),
      async () => (await envelope())?.status === 'completed',
    ],
    [
      'a deleted dispatch',
      () => writer.deleteDispatch?.(taskDir, id),
      async () => (await envelope()) === null,
    ],
  ];
  for (const [what, change, isSeen] of changes) {
    if (what === 'a deleted dispatch' && !writer.capabilities.deleteDispatch) continue;
    await change();
    await listener.calledUntil(`for ${what}`, isSeen);
  }
  stop();
}
