import assert from 'node:assert/strict';
import { createChangeListener } from '../../checks/change-listener.ts';
import { beginDispatch, dispatchId, optionalMethod, prepared, taskDir } from '../../checks/prepared-store.ts';
import { sampleEvent, sampleEvents } from '../../checks/sample-data.ts';
import { caseFamily } from '../../run/conformance-case.ts';

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
]);
