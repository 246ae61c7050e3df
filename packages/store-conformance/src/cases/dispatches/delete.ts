import { refuses, sameContent } from '../../checks/expectations.ts';
import {
  beginDispatch,
  dispatchId,
  holdsEvents,
  optionalMethod,
  prepared,
  prepareStore,
  taskDir,
} from '../../checks/prepared-store.ts';
import { sampleEnvelope, sampleEvent } from '../../checks/sample-data.ts';
import { caseFamily } from '../../run/conformance-case.ts';

export const deleteCases = caseFamily('delete', [
  {
    name: 'gone',
    rule: 1,
    title: 'a deleted dispatch is in no listing and every use of it is refused; others stay',
    needs: ['deleteDispatch'],
    run: async ({ store }) => {
      await prepareStore(store);
      await store.createDispatch(taskDir, sampleEnvelope('OTHER'));
      await store.appendEvent(taskDir, 'OTHER', sampleEvent('event-0'));
      const remove = optionalMethod(store, 'deleteDispatch');
      await remove(taskDir, dispatchId);
      sameContent(await store.getDispatchEnvelope(taskDir, dispatchId), null, 'getDispatchEnvelope');
      sameContent(
        await store.getDispatchEnvelopes(taskDir),
        [sampleEnvelope('OTHER')],
        'getDispatchEnvelopes',
      );
      const touches = {
        getDispatchEvents: () => store.getDispatchEvents(taskDir, dispatchId),
        getRecentEvents: () => store.getRecentEvents(taskDir, dispatchId, 1),
        readEvents: () => store.readEvents(taskDir, dispatchId),
        appendEvent: () => store.appendEvent(taskDir, dispatchId, sampleEvent('late')),
        updateDispatch: () => store.updateDispatch(taskDir, dispatchId, { cost: 1 }),
        claimDispatch: () => store.claimDispatch(taskDir, dispatchId),
        deleteDispatch: () => remove(taskDir, dispatchId),
      };
      for (const [what, call] of Object.entries(touches))
        await refuses('STORE_DISPATCH_NOT_FOUND', what, call);
      await holdsEvents(store, [sampleEvent('event-0')], { taskDir, dispatchId: 'OTHER' });
    },
  },
  {
    name: 'begin-again',
    rule: 1,
    title: 'a dispatch with the id of a deleted one begins empty',
    needs: ['deleteDispatch'],
    run: async ({ store }) => {
      await prepareStore(store);
      await optionalMethod(store, 'deleteDispatch')(taskDir, dispatchId);
      await beginDispatch(store);
      await holdsEvents(store, []);
      const event = sampleEvent('event-0', 'other content under an id of the deleted dispatch');
      await store.appendEvent(taskDir, dispatchId, event);
      await holdsEvents(store, [event]);
    },
  },
  {
    name: 'last-dispatch',
    rule: 1,
    title:
      'a task without a record is no longer listed after its last dispatch was deleted; one with a record is',
    needs: ['deleteDispatch'],
    run: async ({ store }) => {
      await prepareStore(store);
      await store.createDispatch('no/record', sampleEnvelope('ONLY'));
      const remove = optionalMethod(store, 'deleteDispatch');
      await remove('no/record', 'ONLY');
      await remove(taskDir, dispatchId);
      sameContent(await store.listTasks(), [{ taskDir, task: prepared.task }], 'listTasks');
    },
  },
  {
    name: 'stays-gone',
    rule: 2,
    title: 'a deleted dispatch is still missing after the store was opened again',
    needs: ['deleteDispatch', 'durability'],
    run: async ({ store, reopen }) => {
      await prepareStore(store);
      await optionalMethod(store, 'deleteDispatch')(taskDir, dispatchId);
      const again = await reopen();
      sameContent(await again.getDispatchEnvelopes(taskDir), [], 'getDispatchEnvelopes');
      await beginDispatch(again);
      await holdsEvents(again, []);
    },
  },
  {
    name: 'not-found-by-search',
    rule: 1,
    title: 'a search does not find events of a deleted dispatch',
    needs: ['deleteDispatch', 'search'],
    run: async ({ store }) => {
      await prepareStore(store);
      await optionalMethod(store, 'deleteDispatch')(taskDir, dispatchId);
      sameContent(await optionalMethod(store, 'searchEvents')('text', { taskDir }), [], 'searchEvents');
    },
  },
]);
