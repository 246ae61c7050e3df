import assert from 'node:assert/strict';
import { type DispatchStoreProvider, storeErrors } from '@hansard/provider';
import { claim, claimedWrites, endedEnvelope, late, release } from '../../checks/claim-checks.ts';
import { errorsOf, refuses, sameContent } from '../../checks/expectations.ts';
import {
  beginDispatch,
  dispatchId,
  holdsEvents,
  optionalMethod,
  prepared,
  taskDir,
} from '../../checks/prepared-store.ts';
import { sampleEnvelope, sampleEvent, sampleEvents } from '../../checks/sample-data.ts';
import { caseFamily, type NamedCase } from '../../run/conformance-case.ts';

const needs = ['durability', 'writers'] as const;

const cases: readonly Omit<NamedCase, 'needs' | 'rule'>[] = [
  {
    name: 'owner-named',
    title:
      'every STORE_LOCKED because of another opening names its process, in the message and in its details',
    run: async ({ store, openBeside }) => {
      await beginDispatch(store);
      const second = await openBeside();
      const attempts = {
        claimDispatch: () => claim(second),
        ...(second.deleteDispatch && { deleteDispatch: () => second.deleteDispatch?.(taskDir, dispatchId) }),
        appendEvent: () => claimedWrites.appendEvent(second),
        appendEvents: () => claimedWrites.appendEvents(second),
        updateDispatch: () => claimedWrites.updateDispatch(second),
      };
      for (const [what, attempt] of Object.entries(attempts)) {
        const [error] = await errorsOf([attempt]);
        await refuses('STORE_LOCKED', what, () => Promise.reject(error));
        if (!storeErrors.is(error)) return;
        const { owner } = error.details as { readonly owner?: unknown };
        const pid = String(process.pid);
        assert.ok(
          error.message.includes(pid),
          `the message of ${what}, “${error.message}”, does not name the owner`,
        );
        assert.ok(
          String(owner).includes(pid),
          `details.owner of ${what} is ${String(owner)}, without the process id`,
        );
      }
    },
  },
  {
    name: 'close-frees-own-claims',
    title: 'closing an opening releases its own claims and those of no other',
    run: async ({ store, openBeside }) => {
      await beginDispatch(store, prepared.events);
      const [second, third] = [await openBeside(), await openBeside()];
      await third.createDispatch(taskDir, sampleEnvelope('THIRD'));
      await third.close();
      await refuses('STORE_LOCKED', 'claimDispatch after another opening closed', () => claim(second));
      await second.claimDispatch(taskDir, 'THIRD');
      await store.appendEvent(taskDir, dispatchId, late);
      await holdsEvents(second, [...prepared.events, late]);
    },
  },
  {
    name: 'release-frees-one-claim',
    title: 'a release frees one dispatch for other openings, and no other dispatch',
    run: async ({ store, openBeside }) => {
      const second = await openBeside();
      for (const id of ['A', 'B', 'C']) await store.createDispatch(taskDir, sampleEnvelope(id));
      await store.releaseDispatch(taskDir, 'B');
      await second.claimDispatch(taskDir, 'B');
      for (const id of ['A', 'C']) {
        await refuses('STORE_LOCKED', `claimDispatch of ${id}`, () => second.claimDispatch(taskDir, id));
        await store.appendEvent(taskDir, id, late);
      }
      await store.releaseDispatch(taskDir, 'B');
      await second.appendEvent(taskDir, 'B', late);
    },
  },
  {
    name: 'created-at-once',
    title: 'of two openings that create a dispatch at the same time, one succeeds and has the claim',
    run: async ({ store, openBeside }) => {
      const second = await openBeside();
      const results = await Promise.allSettled(
        [store, second].map(async (opening) => opening.createDispatch(taskDir, prepared.envelope)),
      );
      const winners = results.flatMap(({ status }, index) => (status === 'fulfilled' ? [index] : []));
      assert.equal(winners.length, 1, `${winners.length} of two creations succeeded, expected one`);
      const openings = winners[0] === 0 ? [store, second] : [second, store];
      await openings[0]?.appendEvent(taskDir, dispatchId, late);
      await refuses('STORE_LOCKED', 'claimDispatch of the one that lost', () => claim(openings[1] ?? store));
    },
  },
  {
    name: 'retry-after-handover',
    title: 'an opening that claims a dispatch again knows the events that another one appended meanwhile',
    run: async ({ store, openBeside }) => {
      const second = await openBeside();
      await beginDispatch(store, prepared.events);
      await passTo(store, second);
      await second.appendEvents(taskDir, dispatchId, sampleEvents(3, 'second'));
      await passTo(second, store);
      await store.appendEvents(taskDir, dispatchId, [...sampleEvents(3, 'second'), late]);
      await refuses('STORE_EVENT_CONFLICT', 'other content for an event of another opening', () =>
        store.appendEvent(taskDir, dispatchId, sampleEvent('second-1', 'other content')),
      );
      const expected = [...prepared.events, ...sampleEvents(3, 'second'), late];
      await holdsEvents(store, expected);
      await holdsEvents(second, expected);
    },
  },
  {
    name: 'update-after-handover',
    title: 'an update keeps the fields that another opening has changed before',
    run: async ({ store, openBeside }) => {
      const second = await openBeside();
      await beginDispatch(store);
      await store.updateDispatch(taskDir, dispatchId, { cost: 1 });
      await passTo(store, second);
      await second.updateDispatch(taskDir, dispatchId, { title: 'of the second', cost: 2 });
      await passTo(second, store);
      const expected = { ...prepared.envelope, title: 'of the second', cost: 2, model: 'model-b' };
      const updated = await store.updateDispatch(taskDir, dispatchId, { model: 'model-b' });
      sameContent(updated, expected, 'updateDispatch');
      sameContent(await second.getDispatchEnvelope(taskDir, dispatchId), expected, 'getDispatchEnvelope');
    },
  },
  {
    name: 'pages-beside',
    title: 'a reader that follows next beside a writer reads every event once, and each batch whole',
    run: async ({ store, openBeside }) => {
      const reader = await openBeside();
      await beginDispatch(store);
      const expected = [];
      const walked = [];
      let after = -1;
      for (let turn = 0; turn < 20; turn += 1) {
        const batch = sampleEvents(1 + (turn % 4), `turn-${turn}`);
        expected.push(...batch);
        const [page] = await Promise.all([
          reader.readEvents(taskDir, dispatchId, { after }),
          store.appendEvents(taskDir, dispatchId, batch),
        ]);
        walked.push(...page.events);
        after = page.next;
        const { first: count } = await reader.readEvents(taskDir, dispatchId, { last: 0 });
        assert.equal(
          count,
          expected.length,
          `the reader counts ${count} events, expected ${expected.length}`,
        );
      }
      walked.push(...(await reader.readEvents(taskDir, dispatchId, { after })).events);
      sameContent(walked, expected, 'all pages');
    },
  },
  {
    name: 'listed-beside',
    title: 'each opening lists the dispatches and tasks that another one has created since it last looked',
    run: async ({ store, openBeside }) => {
      const second = await openBeside();
      for (const [index, id] of ['A', 'B', 'C'].entries()) {
        const [writer, reader] = index % 2 === 0 ? [store, second] : [second, store];
        await reader.getDispatchEnvelopes(taskDir);
        await reader.listTasks();
        sameContent(await reader.getDispatchEnvelope(taskDir, id), null, `getDispatchEnvelope of ${id}`);
        await writer.createDispatch(taskDir, sampleEnvelope(id));
        await writer.putTask(`lab/${id}`, { ...prepared.task, name: id });
        const ids = (await reader.getDispatchEnvelopes(taskDir)).map((envelope) => envelope.dispatchId);
        sameContent(ids, ['A', 'B', 'C'].slice(0, index + 1), 'the dispatches');
        sameContent((await reader.findTask(`lab/${id}`))?.name, id, 'the name of the new task');
        sameContent((await reader.listTasks()).length, index + 2, 'the number of tasks');
      }
    },
  },
];

const deletions: readonly Omit<NamedCase, 'needs' | 'rule'>[] = [
  {
    name: 'ended-not-deleted-beside',
    title: 'an ended dispatch that another opening has claimed is not deleted, and keeps its events',
    run: async ({ store, openBeside }) => {
      await store.createDispatch(taskDir, endedEnvelope);
      await claim(store);
      await store.appendEvents(taskDir, dispatchId, prepared.events);
      const second = await openBeside();
      await refuses('STORE_LOCKED', 'deleteDispatch', () =>
        optionalMethod(second, 'deleteDispatch')(taskDir, dispatchId),
      );
      sameContent(await second.getDispatchEnvelopes(taskDir), [endedEnvelope], 'getDispatchEnvelopes');
      await store.appendEvent(taskDir, dispatchId, late);
      await holdsEvents(second, [...prepared.events, late]);
    },
  },
  {
    name: 'replaced-beside',
    title: 'an opening that has read a dispatch reads the one that replaced it, and none of the old events',
    run: async ({ store, openBeside }) => {
      const second = await openBeside();
      await beginDispatch(store, prepared.events);
      await holdsEvents(second, prepared.events);
      await optionalMethod(store, 'deleteDispatch')(taskDir, dispatchId);
      await refuses('STORE_DISPATCH_NOT_FOUND', 'getDispatchEvents', () =>
        second.getDispatchEvents(taskDir, dispatchId),
      );
      sameContent(await second.getDispatchEnvelopes(taskDir), [], 'getDispatchEnvelopes');
      const replacement = sampleEnvelope(dispatchId, { role: 'replacement' });
      await store.createDispatch(taskDir, replacement);
      await store.appendEvent(taskDir, dispatchId, sampleEvent('event-0', 'of the replacement'));
      await holdsEvents(second, [sampleEvent('event-0', 'of the replacement')]);
      sameContent(await second.getDispatchEnvelope(taskDir, dispatchId), replacement, 'getDispatchEnvelope');
    },
  },
];

/** One store opened several times in one process: no opening trusts what it knew before another one wrote. */
export const handoverCases = caseFamily('shared', [
  ...cases.map((one) => ({ ...one, rule: 6, needs })),
  ...deletions.map((one) => ({ ...one, rule: 6, needs: [...needs, 'deleteDispatch'] as const })),
]);

async function passTo(from: DispatchStoreProvider, to: DispatchStoreProvider): Promise<void> {
  await release(from);
  await claim(to);
}
