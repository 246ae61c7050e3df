import assert from 'node:assert/strict';
import { errorsOf, refuses, sameContent } from '../../checks/expectations.ts';
import {
  beginDispatch,
  dispatchId,
  holdsEvents,
  holdsPrepared,
  optionalMethod,
  prepared,
  prepareStore,
  taskDir,
} from '../../checks/prepared-store.ts';
import { sampleEnvelope, sampleEvent, sampleEvents } from '../../checks/sample-data.ts';
import { storeOperations } from '../../checks/store-operations.ts';
import { caseFamily, type NamedCase } from '../../run/conformance-case.ts';

const absentDispatch = '01JQ00000000000000000000ZZ';

const missing = storeOperations
  .filter(({ whenMissing }) => whenMissing !== 'creates')
  .map(
    ({ name, method, needs, takes, whenMissing, call }): NamedCase => ({
      name: `missing-${name}`,
      rule: 1,
      title:
        whenMissing === 'refused'
          ? `${method} of a missing dispatch is STORE_DISPATCH_NOT_FOUND`
          : `${method} of a missing task or dispatch returns an empty answer`,
      needs,
      run: async ({ store }) => {
        if (takes !== 'nothing') await prepareStore(store);
        const absentTask = 'research/tasks/nobody-asked-for-this';
        const places = [
          [absentTask, dispatchId] as const,
          ...(takes === 'taskDir and dispatchId' ? [[taskDir, absentDispatch] as const] : []),
        ];
        for (const [task, dispatch] of places) {
          const what = `${method}(${task}, ${dispatch})`;
          if (typeof whenMissing === 'object')
            sameContent(await call(store, task, dispatch), whenMissing.answer, what);
          else await refuses('STORE_DISPATCH_NOT_FOUND', what, () => call(store, task, dispatch));
        }
        if (takes === 'nothing') return;
        await holdsPrepared(store);
      },
    }),
  );

export const dispatchCases = caseFamily('dispatches', [
  ...missing,
  {
    name: 'create-twice',
    rule: 1,
    title: 'creating a dispatch that exists is STORE_DISPATCH_EXISTS and does not change the first',
    run: async ({ store }) => {
      await prepareStore(store);
      const other = sampleEnvelope(dispatchId, { role: 'usurper' });
      for (const envelope of [prepared.envelope, other])
        await refuses('STORE_DISPATCH_EXISTS', 'createDispatch', () =>
          store.createDispatch(taskDir, envelope),
        );
      sameContent(await store.getDispatchEnvelopes(taskDir), [prepared.envelope], 'getDispatchEnvelopes');
      await holdsEvents(store, prepared.events);
    },
  },
  {
    name: 'create-at-once',
    rule: 1,
    title: 'of two calls that create the same dispatch at the same time, exactly one succeeds',
    run: async ({ store }) => {
      const errors = await errorsOf([
        () => store.createDispatch(taskDir, prepared.envelope),
        () => store.createDispatch(taskDir, prepared.envelope),
      ]);
      assert.equal(errors.length, 1, `${errors.length} of two calls failed, expected one`);
      await refuses('STORE_DISPATCH_EXISTS', 'the call that lost', () => Promise.reject(errors[0]));
      await holdsEvents(store, []);
    },
  },
  {
    name: 'begins-empty',
    rule: 1,
    title: 'a new dispatch is listed at once and has no events',
    run: async ({ store }) => {
      await beginDispatch(store);
      sameContent(await store.getDispatchEnvelopes(taskDir), [prepared.envelope], 'getDispatchEnvelopes');
      sameContent(await store.listTasks(), [{ taskDir, task: null }], 'listTasks');
      await holdsEvents(store, []);
    },
  },
  {
    name: 'same-id-in-two-tasks',
    rule: 1,
    title: 'dispatches with the same id in two tasks are two dispatches',
    run: async ({ store }) => {
      await beginDispatch(store, prepared.events);
      const elsewhere = { taskDir: 'research/tasks/other', dispatchId };
      const envelope = sampleEnvelope(dispatchId, { role: 'reviewer', taskSlug: 'other' });
      await store.createDispatch(elsewhere.taskDir, envelope);
      const event = sampleEvent('event-0', 'the same event id with another text');
      await store.appendEvent(elsewhere.taskDir, dispatchId, event);
      await store.updateDispatch(elsewhere.taskDir, dispatchId, { status: 'aborted' });
      await holdsEvents(store, prepared.events);
      await holdsEvents(store, [event], elsewhere);
      sameContent(
        await store.getDispatchEnvelope(taskDir, dispatchId),
        prepared.envelope,
        'getDispatchEnvelope',
      );
    },
  },
  {
    name: 'side-by-side',
    rule: 4,
    title: 'dispatches that are written at the same time do not mix',
    run: async ({ store }) => {
      const ids = ['A', 'B', 'C', 'D'];
      for (const id of ids) await store.createDispatch(taskDir, sampleEnvelope(id));
      const eventsOf = (id: string) => sampleEvents(25).map((event) => ({ ...event, agentId: id }));
      await Promise.all(
        ids.map(async (id) => {
          for (const event of eventsOf(id)) await store.appendEvent(taskDir, id, event);
        }),
      );
      for (const id of ids) await holdsEvents(store, eventsOf(id), { taskDir, dispatchId: id });
    },
  },
  {
    name: 'ids-of-javascript',
    rule: 1,
    title: 'a dispatch id may be __proto__ or constructor',
    run: async ({ store }) => {
      const ids = ['__proto__', 'constructor', 'toString'];
      for (const id of ids) {
        sameContent(await store.getDispatchEnvelope(taskDir, id), null, `getDispatchEnvelope of ${id}`);
        await refuses('STORE_DISPATCH_NOT_FOUND', id, () => store.appendEvent(taskDir, id, sampleEvent(id)));
      }
      for (const id of ids) {
        await store.createDispatch(taskDir, sampleEnvelope(id));
        await store.appendEvent(taskDir, id, sampleEvent(id));
      }
      for (const id of ids) await holdsEvents(store, [sampleEvent(id)], { taskDir, dispatchId: id });
    },
  },
  {
    name: 'ended-takes-events',
    rule: null,
    title: 'a dispatch that ended still accepts events',
    run: async ({ store }) => {
      await beginDispatch(store, prepared.events);
      await store.updateDispatch(taskDir, dispatchId, {
        status: 'completed',
        completedAt: '2026-03-01T10:00:00.000Z',
      });
      const verdict = sampleEvent('verdict');
      await store.appendEvent(taskDir, dispatchId, verdict);
      await holdsEvents(store, [...prepared.events, verdict]);
    },
  },
]);

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
