import assert from 'node:assert/strict';
import { claim, endedEnvelope, late, release } from '../../checks/claim-checks.ts';
import { refuses, sameContent } from '../../checks/expectations.ts';
import {
  beginDispatch,
  dispatchId,
  holdsEvents,
  prepared,
  prepareStore,
  taskDir,
} from '../../checks/prepared-store.ts';
import { sampleEvent } from '../../checks/sample-data.ts';
import { caseFamily } from '../../run/conformance-case.ts';

/** The effects of a claim, with one opening of the store. */
export const claimEffectCases = caseFamily('claims', [
  {
    name: 'kept-after-a-refusal',
    rule: 6,
    title: 'a refused write does not end the claim',
    run: async ({ store }) => {
      await beginDispatch(store, prepared.events);
      await refuses('STORE_EVENT_CONFLICT', 'appendEvent', () =>
        store.appendEvent(taskDir, dispatchId, sampleEvent('event-1', 'other content')),
      );
      await refuses('STORE_DISPATCH_EXISTS', 'createDispatch', () =>
        store.createDispatch(taskDir, prepared.envelope),
      );
      await refuses('STORE_INVALID_CURSOR', 'readEvents', () =>
        store.readEvents(taskDir, dispatchId, { after: 99 }),
      );
      await store.appendEvent(taskDir, dispatchId, late);
      await store.updateDispatch(taskDir, dispatchId, { cost: 1 });
      await holdsEvents(store, [...prepared.events, late]);
    },
  },
  {
    name: 'reading-needs-none',
    rule: 6,
    title: 'every read works without a claim, and claims nothing',
    run: async ({ store }) => {
      await prepareStore(store);
      await release(store);
      await holdsEvents(store, prepared.events);
      sameContent(
        await store.getDispatchEnvelope(taskDir, dispatchId),
        prepared.envelope,
        'getDispatchEnvelope',
      );
      sameContent(await store.getDispatchEnvelopes(taskDir), [prepared.envelope], 'getDispatchEnvelopes');
      await store.putTask(taskDir, prepared.task);
      await refuses('STORE_LOCKED', 'appendEvent after reads', () =>
        store.appendEvent(taskDir, dispatchId, late),
      );
      await refuses('STORE_LOCKED', 'updateDispatch after reads', () =>
        store.updateDispatch(taskDir, dispatchId, { cost: 1 }),
      );
    },
  },
  {
    name: 'changes-no-data',
    rule: 6,
    title: 'claims and releases change no envelope, event, task or listing',
    run: async ({ store }) => {
      await store.createDispatch(taskDir, endedEnvelope);
      for (let turn = 0; turn < 3; turn += 1) {
        await claim(store);
        sameContent(await store.getDispatchEnvelopes(taskDir), [endedEnvelope], 'after a claim');
        await release(store);
        sameContent(await store.getDispatchEnvelopes(taskDir), [endedEnvelope], 'after a release');
      }
      await holdsEvents(store, []);
      sameContent(await store.listTasks(), [{ taskDir, task: null }], 'listTasks');
    },
  },
  {
    name: 'epoch-grows',
    rule: 6,
    title:
      'each claim of a dispatch has a greater epoch than the claims before it, and a repeated one the same',
    run: async ({ store }) => {
      await store.createDispatch(taskDir, endedEnvelope);
      const epochs: number[] = [];
      for (let turn = 0; turn < 4; turn += 1) {
        const { epoch } = await store.claimDispatch(taskDir, dispatchId);
        assert.ok(
          Number.isSafeInteger(epoch) && epoch >= 1,
          `the epoch is ${epoch}, expected a whole number from 1`,
        );
        assert.ok(epoch > (epochs.at(-1) ?? 0), `the epoch is ${epoch} after ${epochs.at(-1)}`);
        const again = await store.claimDispatch(taskDir, dispatchId);
        assert.equal(again.epoch, epoch, 'the epoch of a repeated claim');
        epochs.push(epoch);
        await release(store);
      }
    },
  },
  {
    name: 'epoch-reopened',
    rule: 6,
    title: 'the epoch grows after the store was opened again',
    needs: ['durability'],
    run: async ({ store, reopen }) => {
      await beginDispatch(store);
      const { epoch: first } = await store.claimDispatch(taskDir, dispatchId);
      const { epoch: second } = await (await reopen()).claimDispatch(taskDir, dispatchId);
      assert.ok(second > first, `the epoch is ${second} after ${first}`);
    },
  },
]);
