import {
  claim,
  claimedWrites,
  endedEnvelope,
  late,
  release,
  takesNoWrite,
} from '../../checks/claim-checks.ts';
import { refuses, sameContent } from '../../checks/expectations.ts';
import {
  beginDispatch,
  dispatchId,
  holdsEvents,
  optionalMethod,
  prepared,
  taskDir,
} from '../../checks/prepared-store.ts';
import { sampleEnvelope, sampleEvent } from '../../checks/sample-data.ts';
import { caseFamily } from '../../run/conformance-case.ts';

export const claimCases = caseFamily('claims', [
  {
    name: 'created-running',
    rule: 6,
    title: 'a dispatch that was created as running is claimed, and accepts every write at once',
    run: async ({ store }) => {
      await beginDispatch(store, prepared.events);
      await store.updateDispatch(taskDir, dispatchId, { cost: 1 });
      await store.appendEvent(taskDir, dispatchId, late);
      await holdsEvents(store, [...prepared.events, late]);
    },
  },
  {
    name: 'created-ended',
    rule: 6,
    title: 'a dispatch that was created with another status is not claimed, and accepts no write until it is',
    run: async ({ store }) => {
      await store.createDispatch(taskDir, endedEnvelope);
      await takesNoWrite(store, 'before a claim');
      await claim(store);
      await store.appendEvents(taskDir, dispatchId, prepared.events);
      await holdsEvents(store, prepared.events);
    },
  },
  {
    name: 'append-claims-nothing',
    rule: 6,
    title: 'an append to a dispatch that is not claimed is STORE_LOCKED, each time, and adds nothing',
    run: async ({ store }) => {
      await store.createDispatch(taskDir, endedEnvelope);
      for (const attempt of ['first', 'second']) {
        await refuses('STORE_LOCKED', `the ${attempt} appendEvent`, () => claimedWrites.appendEvent(store));
        await holdsEvents(store, []);
      }
    },
  },
  {
    name: 'batch-claims-nothing',
    rule: 6,
    title: 'a batch for a dispatch that is not claimed is STORE_LOCKED, each time, including an empty one',
    run: async ({ store }) => {
      await store.createDispatch(taskDir, endedEnvelope);
      for (const what of ['appendEvents', 'appendEvents of an empty batch', 'appendEvents'] as const) {
        await refuses('STORE_LOCKED', what, () => claimedWrites[what](store));
        await holdsEvents(store, []);
      }
    },
  },
  {
    name: 'update-claims-nothing',
    rule: 6,
    title: 'an update of a dispatch that is not claimed is STORE_LOCKED, including one that sets it running',
    run: async ({ store }) => {
      await store.createDispatch(taskDir, endedEnvelope);
      for (const what of [
        'updateDispatch',
        'updateDispatch without fields',
        'updateDispatch that sets it running',
        'updateDispatch',
      ] as const) {
        await refuses('STORE_LOCKED', what, () => claimedWrites[what](store));
        sameContent(
          await store.getDispatchEnvelope(taskDir, dispatchId),
          endedEnvelope,
          `the envelope after ${what}`,
        );
      }
    },
  },
  {
    name: 'gives-the-envelope',
    rule: 6,
    title: 'a claim returns the current envelope',
    run: async ({ store }) => {
      await beginDispatch(store);
      sameContent(
        (await store.claimDispatch(taskDir, dispatchId)).envelope,
        prepared.envelope,
        'claimDispatch of a claimed dispatch',
      );
      await store.updateDispatch(taskDir, dispatchId, { status: 'crashed', cost: 2 });
      await release(store);
      sameContent(
        (await store.claimDispatch(taskDir, dispatchId)).envelope,
        { ...prepared.envelope, status: 'crashed', cost: 2 },
        'claimDispatch of a released dispatch',
      );
    },
  },
  {
    name: 'ended-dispatch',
    rule: 6,
    title: 'a dispatch that ended and was released accepts a late event after a claim, and stays ended',
    run: async ({ store }) => {
      await beginDispatch(store, prepared.events);
      const envelope = await store.updateDispatch(taskDir, dispatchId, { status: 'completed' });
      await release(store);
      await claim(store);
      await store.appendEvent(taskDir, dispatchId, late);
      await holdsEvents(store, [...prepared.events, late]);
      sameContent(await store.getDispatchEnvelope(taskDir, dispatchId), envelope, 'getDispatchEnvelope');
    },
  },
  {
    name: 'again',
    rule: 6,
    title: 'claiming a claimed dispatch again changes nothing, and one release releases it',
    run: async ({ store }) => {
      await beginDispatch(store, prepared.events);
      for (let count = 0; count < 3; count += 1) await claim(store);
      await store.appendEvent(taskDir, dispatchId, late);
      await holdsEvents(store, [...prepared.events, late]);
      await release(store);
      await takesNoWrite(store, 'after one release');
    },
  },
  {
    name: 'lasts-beyond-the-end',
    rule: 6,
    title: 'a claim lasts until its release, whatever the status becomes',
    run: async ({ store }) => {
      await beginDispatch(store, prepared.events);
      const expected = [...prepared.events];
      for (const status of ['completed', 'running', 'aborted', 'crashed'] as const) {
        await store.updateDispatch(taskDir, dispatchId, { status });
        const event = sampleEvent(`after-${status}`);
        await store.appendEvent(taskDir, dispatchId, event);
        expected.push(event);
      }
      await holdsEvents(store, expected);
      await release(store);
      await takesNoWrite(store, 'after the release of an ended dispatch');
    },
  },
  {
    name: 'release',
    rule: 6,
    title: 'a released dispatch accepts no write until it is claimed again, whether it runs or not',
    run: async ({ store }) => {
      await beginDispatch(store, prepared.events);
      for (const status of ['running', 'completed'] as const) {
        await store.updateDispatch(taskDir, dispatchId, { status });
        await release(store);
        await takesNoWrite(store, `after the release of a ${status} dispatch`);
        await claim(store);
      }
      await store.appendEvent(taskDir, dispatchId, late);
      await holdsEvents(store, [...prepared.events, late]);
    },
  },
  {
    name: 'release-unclaimed',
    rule: 6,
    title: 'releasing a dispatch that is not claimed changes nothing',
    run: async ({ store }) => {
      await store.createDispatch(taskDir, endedEnvelope);
      await release(store);
      await release(store);
      sameContent(await store.getDispatchEnvelopes(taskDir), [endedEnvelope], 'getDispatchEnvelopes');
      await holdsEvents(store, []);
      await claim(store);
      await store.appendEvent(taskDir, dispatchId, late);
      await holdsEvents(store, [late]);
    },
  },
  {
    name: 'one-dispatch',
    rule: 6,
    title:
      'a claim and a release affect one dispatch: no other one of the task, and none with its id in another task',
    run: async ({ store }) => {
      const namesake = { taskDir: 'research/tasks/other', dispatchId };
      await beginDispatch(store, prepared.events);
      await store.createDispatch(taskDir, sampleEnvelope('OTHER'));
      await store.createDispatch(namesake.taskDir, prepared.envelope);
      await release(store);
      await store.appendEvent(taskDir, 'OTHER', late);
      await store.appendEvent(namesake.taskDir, dispatchId, late);
      await store.releaseDispatch(namesake.taskDir, dispatchId);
      await claim(store);
      await refuses('STORE_LOCKED', 'appendEvent to the namesake', () =>
        store.appendEvent(namesake.taskDir, dispatchId, sampleEvent('later')),
      );
      await holdsEvents(store, [late], namesake);
    },
  },
  {
    name: 'many',
    rule: 6,
    title: 'a store keeps the claims of 200 dispatches, even if it has not written to them for a long time',
    run: async ({ store }) => {
      const ids = Array.from({ length: 200 }, (_, index) => `D${index}`);
      for (const id of ids) await store.createDispatch(taskDir, sampleEnvelope(id));
      for (const id of ids) await store.appendEvent(taskDir, id, late);
      for (const id of ids.slice(100)) await store.releaseDispatch(taskDir, id);
      for (const id of ids.slice(0, 100)) await store.updateDispatch(taskDir, id, { cost: 1 });
      for (const id of ids.slice(100))
        await refuses('STORE_LOCKED', `updateDispatch of ${id}`, () =>
          store.updateDispatch(taskDir, id, { cost: 1 }),
        );
    },
  },
  {
    name: 'not-inherited',
    rule: 6,
    title: 'a new dispatch with the id of a deleted one has no claim of the old one; deleting needs no claim',
    needs: ['deleteDispatch'],
    run: async ({ store }) => {
      await beginDispatch(store, prepared.events);
      const remove = optionalMethod(store, 'deleteDispatch');
      await remove(taskDir, dispatchId);
      await store.createDispatch(taskDir, endedEnvelope);
      await takesNoWrite(store, 'in the place of a claimed dispatch');
      await remove(taskDir, dispatchId);
      sameContent(await store.getDispatchEnvelopes(taskDir), [], 'getDispatchEnvelopes');
    },
  },
  {
    name: 'reopened',
    rule: 6,
    title: 'closing a store releases its claims, and opening it claims nothing',
    needs: ['durability'],
    run: async ({ store, reopen }) => {
      await beginDispatch(store, prepared.events);
      const again = await reopen();
      await takesNoWrite(again, 'after the store was opened again');
      await claim(again);
      await again.appendEvent(taskDir, dispatchId, late);
      await holdsEvents(again, [...prepared.events, late]);
    },
  },
]);
