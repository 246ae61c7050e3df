import { refuses, sameContent } from '../../checks/expectations.ts';
import { beginDispatch, dispatchId, holdsEvents, prepared, taskDir } from '../../checks/prepared-store.ts';
import { sampleEnvelope, sampleEvent, sampleEvents } from '../../checks/sample-data.ts';
import { caseFamily } from '../../run/conformance-case.ts';

/** One store opened twice at the same time, in one process. Several processes are not tested here. */
export const sharedCases = caseFamily('shared', [
  {
    name: 'reads-what-another-writes',
    rule: 6,
    title: 'each opening of a store that is opened twice reads the events of the other',
    needs: ['durability', 'writers'],
    run: async ({ store, openBeside }) => {
      const reader = await openBeside();
      await beginDispatch(store, prepared.events);
      await store.putTask(taskDir, prepared.task);
      await holdsEvents(reader, prepared.events);
      const late = sampleEvent('late');
      await store.appendEvent(taskDir, dispatchId, late);
      await store.updateDispatch(taskDir, dispatchId, { cost: 1 });
      await holdsEvents(reader, [...prepared.events, late]);
      sameContent(
        await reader.getDispatchEnvelopes(taskDir),
        [{ ...prepared.envelope, cost: 1 }],
        'getDispatchEnvelopes',
      );
      sameContent(await reader.listTasks(), [{ taskDir, task: prepared.task }], 'listTasks');
    },
  },
  {
    name: 'writes-different-dispatches',
    rule: 6,
    title: 'two openings of a store write different dispatches of a task at the same time',
    needs: ['durability', 'writers'],
    run: async ({ store, openBeside }) => {
      const other = await openBeside();
      await beginDispatch(store);
      await other.createDispatch(taskDir, sampleEnvelope('OTHER'));
      const events = sampleEvents(20);
      for (const event of events)
        await Promise.all([
          store.appendEvent(taskDir, dispatchId, event),
          other.appendEvent(taskDir, 'OTHER', event),
        ]);
      for (const reader of [store, other]) {
        await holdsEvents(reader, events);
        await holdsEvents(reader, events, { taskDir, dispatchId: 'OTHER' });
      }
    },
  },
  {
    name: 'second-writer-refused',
    rule: 6,
    title: 'a second writer of one dispatch is STORE_LOCKED, until the first has closed its store',
    needs: ['durability', 'writers'],
    run: async ({ store, openBeside }) => {
      await beginDispatch(store, prepared.events);
      const second = await openBeside();
      const append = () => second.appendEvent(taskDir, dispatchId, sampleEvent('second'));
      await refuses('STORE_LOCKED', 'claimDispatch of a second writer', () =>
        second.claimDispatch(taskDir, dispatchId),
      );
      await refuses('STORE_LOCKED', 'appendEvent of a second writer', append);
      await refuses('STORE_LOCKED', 'appendEvents of a second writer', () =>
        second.appendEvents(taskDir, dispatchId, [sampleEvent('second')]),
      );
      await refuses('STORE_LOCKED', 'updateDispatch of a second writer', () =>
        second.updateDispatch(taskDir, dispatchId, { cost: 1 }),
      );
      await store.appendEvent(taskDir, dispatchId, sampleEvent('first'));
      await store.close();
      await second.claimDispatch(taskDir, dispatchId);
      await append();
      await holdsEvents(second, [...prepared.events, sampleEvent('first'), sampleEvent('second')]);
    },
  },
  {
    name: 'held-from-creation',
    rule: 6,
    title: 'a dispatch that was created running is STORE_LOCKED for a second writer before its first event',
    needs: ['durability', 'writers'],
    run: async ({ store, openBeside }) => {
      const second = await openBeside();
      await beginDispatch(store);
      await refuses('STORE_LOCKED', 'claimDispatch of a second writer', () =>
        second.claimDispatch(taskDir, dispatchId),
      );
      sameContent(
        await second.getDispatchEnvelope(taskDir, dispatchId),
        prepared.envelope,
        'getDispatchEnvelope',
      );
      await store.close();
      await second.claimDispatch(taskDir, dispatchId);
      await second.appendEvent(taskDir, dispatchId, sampleEvent('second'));
      await holdsEvents(second, [sampleEvent('second')]);
    },
  },
  {
    name: 'held-since-it-runs-again',
    rule: 6,
    title: 'a dispatch that was set running again is STORE_LOCKED for a second writer before its next event',
    needs: ['durability', 'writers'],
    run: async ({ store, openBeside }) => {
      const second = await openBeside();
      await beginDispatch(store);
      await store.updateDispatch(taskDir, dispatchId, { status: 'completed' });
      await store.updateDispatch(taskDir, dispatchId, { status: 'running' });
      await refuses('STORE_LOCKED', 'claimDispatch of a second writer', () =>
        second.claimDispatch(taskDir, dispatchId),
      );
      await store.updateDispatch(taskDir, dispatchId, { status: 'completed' });
      await store.releaseDispatch(taskDir, dispatchId);
      await second.claimDispatch(taskDir, dispatchId);
      await second.updateDispatch(taskDir, dispatchId, { status: 'crashed' });
    },
  },
  {
    name: 'held-since-a-claim',
    rule: 6,
    title: 'a running dispatch that a second writer has claimed is STORE_LOCKED for a third one',
    needs: ['durability', 'writers'],
    run: async ({ store, openBeside }) => {
      await beginDispatch(store);
      const second = await openBeside();
      const third = await openBeside();
      await store.close();
      await second.claimDispatch(taskDir, dispatchId);
      await refuses('STORE_LOCKED', 'claimDispatch of a third writer', () =>
        third.claimDispatch(taskDir, dispatchId),
      );
      await second.updateDispatch(taskDir, dispatchId, { status: 'crashed' });
      await second.releaseDispatch(taskDir, dispatchId);
      await third.claimDispatch(taskDir, dispatchId);
      await third.updateDispatch(taskDir, dispatchId, { cost: 1 });
    },
  },
]);
