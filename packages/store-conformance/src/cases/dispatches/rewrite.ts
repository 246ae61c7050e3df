import assert from 'node:assert/strict';
import type { CapturedEvent, DispatchRewrite, DispatchStoreProvider } from '@hansard/provider';
import { createChangeListener } from '../../checks/change-listener.ts';
import { refuses, sameContent } from '../../checks/expectations.ts';
import {
  beginDispatch,
  dispatchId,
  holdsEvents,
  optionalMethod,
  prepared,
  prepareStore,
  remainsOf,
  reopenClaimed,
  taskDir,
} from '../../checks/prepared-store.ts';
import { sampleEnvelope, sampleEvent, sampleEvents } from '../../checks/sample-data.ts';
import { caseFamily } from '../../run/conformance-case.ts';

const notice = sampleEvent('notice', 'rewritten');

/** The new form of an event: another text, under the same id, type and time. */
function rewritten(event: CapturedEvent): CapturedEvent {
  return { ...event, data: { ...event.data, text: 'censored', more: { kept: null } } };
}

const rewrite: DispatchRewrite = {
  envelope: (envelope) => ({ ...envelope, role: 'censored' }),
  event: rewritten,
  notice: () => notice,
};

const envelope = { ...prepared.envelope, role: 'censored' };

function rewriteOf(store: DispatchStoreProvider): NonNullable<DispatchStoreProvider['rewriteDispatch']> {
  return optionalMethod(store, 'rewriteDispatch');
}

export const rewriteCases = caseFamily('rewrite', [
  {
    name: 'all-ways-to-read',
    rule: 4,
    title:
      'a rewritten dispatch has the new envelope, the new events in their places, and the notice; others stay',
    needs: ['rewrite'],
    run: async ({ store }) => {
      await prepareStore(store);
      await store.createDispatch(taskDir, sampleEnvelope('OTHER'));
      await store.appendEvents(taskDir, 'OTHER', prepared.events);
      const { remains } = await rewriteOf(store)(taskDir, dispatchId, rewrite);
      assert.ok(
        remains.every((place) => place !== ''),
        'the places where the old content can remain',
      );
      const events = [...prepared.events.map(rewritten), notice];
      await holdsEvents(store, events);
      sameContent(await store.getDispatchEnvelope(taskDir, dispatchId), envelope, 'getDispatchEnvelope');
      const listed = await store.listDispatches({ taskDir });
      const own = listed.dispatches.find((listing) => listing.dispatchId === dispatchId);
      sameContent(own?.envelope, envelope, 'listDispatches');
      sameContent(own?.lastActiveAt, notice.timestamp, 'lastActiveAt');
      sameContent(
        (await store.getDispatchEnvelopes(taskDir)).find((one) => one.dispatchId === dispatchId),
        envelope,
        'getDispatchEnvelopes',
      );
      sameContent(
        await store.readEvents(taskDir, dispatchId, { after: 0, limit: 1 }),
        { events: events.slice(1, 2), first: 1, next: 1 },
        'a page after a cursor from before',
      );
      await holdsEvents(store, prepared.events, { taskDir, dispatchId: 'OTHER' });
    },
  },
  {
    name: 'gives-every-event',
    rule: 4,
    title: 'a rewrite gets each event once, in the order of the log, and keeps those that it returns itself',
    needs: ['rewrite'],
    run: async ({ store }) => {
      const events = [
        ...sampleEvents(2_500),
        sampleEvent('accents', 'é — 日本 \u2028 \ud83d\ude00'),
        { ...sampleEvent('numbers'), data: { 2: 'two', 1: 'one', float: 1e21, small: -0.5, list: [[], {}] } },
      ];
      await beginDispatch(store);
      await store.appendEvents(taskDir, dispatchId, events);
      const given: CapturedEvent[] = [];
      await rewriteOf(store)(taskDir, dispatchId, {
        envelope: (one) => one,
        event: (event) => {
          given.push(structuredClone(event));
          return given.length % 2 === 0 ? rewritten(event) : event;
        },
        notice: () => {
          sameContent(given.length, events.length, 'the number of events before the notice');
          return notice;
        },
      });
      sameContent(given, events, 'the events that the rewrite was given');
      await holdsEvents(store, [
        ...events.map((event, at) => (at % 2 === 1 ? rewritten(event) : event)),
        notice,
      ]);
    },
  },
  {
    name: 'without-notice',
    rule: 4,
    title: 'a rewrite without a notice adds no event, including to a dispatch without events',
    needs: ['rewrite'],
    run: async ({ store }) => {
      await prepareStore(store);
      const { notice: _, ...silent } = rewrite;
      await rewriteOf(store)(taskDir, dispatchId, silent);
      const events = prepared.events.map(rewritten);
      await holdsEvents(store, events);
      await store.appendEvent(taskDir, dispatchId, notice);
      await holdsEvents(store, [...events, notice]);
      const empty = sampleEnvelope('EMPTY', {
        status: 'completed',
        completedAt: prepared.envelope.startedAt,
      });
      await store.createDispatch(taskDir, empty);
      await rewriteOf(store)(taskDir, 'EMPTY', silent);
      sameContent(
        await store.getDispatchEnvelope(taskDir, 'EMPTY'),
        { ...empty, role: 'censored' },
        'the envelope of the dispatch without events',
      );
      await holdsEvents(store, [], { taskDir, dispatchId: 'EMPTY' });
      await store.claimDispatch(taskDir, 'EMPTY');
      await store.appendEvent(taskDir, 'EMPTY', notice);
      await holdsEvents(store, [notice], { taskDir, dispatchId: 'EMPTY' });
    },
  },
  {
    name: 'ends-without-a-change',
    rule: 2,
    title: 'an error of the rewrite is thrown again, and nothing has changed',
    needs: ['rewrite'],
    run: async ({ store }) => {
      await prepareStore(store);
      const failures: readonly Partial<DispatchRewrite>[] = [
        { envelope: () => fail() },
        { event: (event) => (event.id === prepared.events.at(-1)?.id ? fail() : rewritten(event)) },
        { notice: () => fail() },
      ];
      for (const failure of failures) {
        await assert.rejects(async () => rewriteOf(store)(taskDir, dispatchId, { ...rewrite, ...failure }), {
          message: 'the rewrite ends',
        });
        await holdsEvents(store, prepared.events);
        sameContent(
          await store.getDispatchEnvelope(taskDir, dispatchId),
          prepared.envelope,
          'getDispatchEnvelope',
        );
      }
      await store.appendEvent(taskDir, dispatchId, notice);
      await holdsEvents(store, [...prepared.events, notice]);
    },
  },
  {
    name: 'continues',
    rule: 3,
    title: 'appends continue after the notice, and compare with the new content',
    needs: ['rewrite'],
    run: async ({ store }) => {
      await prepareStore(store);
      await rewriteOf(store)(taskDir, dispatchId, rewrite);
      const [first] = prepared.events;
      if (first === undefined) throw new TypeError('no event is prepared');
      await refuses('STORE_EVENT_CONFLICT', 'the old content of an event', () =>
        store.appendEvent(taskDir, dispatchId, first),
      );
      const late = sampleEvent('late');
      await store.appendEvents(taskDir, dispatchId, [rewritten(first), notice, late]);
      const events = [...prepared.events.map(rewritten), notice, late];
      await holdsEvents(store, events);
      await rewriteOf(store)(taskDir, dispatchId, { ...rewrite, notice: () => sampleEvent('again') });
      await holdsEvents(store, [...events.map(rewritten), sampleEvent('again')]);
      const changed = await store.updateDispatch(taskDir, dispatchId, { cost: 2 });
      sameContent(changed, { ...envelope, cost: 2 }, 'updateDispatch');
    },
  },
  {
    name: 'needs-no-claim',
    rule: 6,
    title: 'a rewrite needs no claim, and leaves the dispatch free',
    needs: ['rewrite'],
    run: async ({ store }) => {
      await prepareStore(store);
      await store.releaseDispatch(taskDir, dispatchId);
      await rewriteOf(store)(taskDir, dispatchId, rewrite);
      await refuses('STORE_LOCKED', 'appendEvent without a claim', () =>
        store.appendEvent(taskDir, dispatchId, sampleEvent('late')),
      );
      sameContent((await store.claimDispatch(taskDir, dispatchId)).envelope, envelope, 'claimDispatch');
      await store.appendEvent(taskDir, dispatchId, sampleEvent('late'));
    },
  },
  {
    name: 'refused-beside',
    rule: 6,
    title:
      'a dispatch that another opening has claimed is not rewritten; a free one is, and both openings read it',
    needs: ['rewrite', 'durability', 'writers'],
    run: async ({ store, openBeside }) => {
      await prepareStore(store);
      const second = await openBeside();
      await holdsEvents(second, prepared.events);
      await refuses('STORE_LOCKED', 'rewriteDispatch', () => rewriteOf(second)(taskDir, dispatchId, rewrite));
      await holdsEvents(store, prepared.events);
      await store.releaseDispatch(taskDir, dispatchId);
      await rewriteOf(second)(taskDir, dispatchId, rewrite);
      const events = [...prepared.events.map(rewritten), notice];
      for (const reader of [store, second]) await holdsEvents(reader, events);
      await store.claimDispatch(taskDir, dispatchId);
      await store.appendEvent(taskDir, dispatchId, sampleEvent('late'));
      await holdsEvents(second, [...events, sampleEvent('late')]);
    },
  },
  {
    name: 'stays',
    rule: 2,
    title: 'a rewritten dispatch has its new content after the store was opened again',
    needs: ['rewrite', 'durability'],
    run: async (context) => {
      await prepareStore(context.store);
      await rewriteOf(context.store)(taskDir, dispatchId, rewrite);
      const again = await reopenClaimed(context);
      await holdsEvents(again, [...prepared.events.map(rewritten), notice]);
      sameContent(await again.getDispatchEnvelope(taskDir, dispatchId), envelope, 'getDispatchEnvelope');
      await again.appendEvent(taskDir, dispatchId, sampleEvent('late'));
    },
  },
  {
    name: 'not-found-by-search',
    rule: 1,
    title: 'a search finds the new content, and not the old',
    needs: ['rewrite', 'search'],
    run: async ({ store }) => {
      await beginDispatch(store, [sampleEvent('event-0', 'sesame opens it')]);
      const search = optionalMethod(store, 'searchEvents');
      sameContent((await search('sesame', { taskDir })).length, 1, 'hits before the rewrite');
      await rewriteOf(store)(taskDir, dispatchId, rewrite);
      sameContent(await search('sesame', { taskDir }), [], 'hits of the old content');
      sameContent((await search('censored', { taskDir })).length, 1, 'hits of the new content');
    },
  },
  {
    name: 'remains-removed',
    rule: 4,
    title:
      'removeRemains changes no content and no claim, names in words each place that can hold old content, and can be repeated',
    needs: ['rewrite'],
    run: async ({ store, capabilities }) => {
      await prepareStore(store);
      await store.createDispatch(taskDir, sampleEnvelope('OTHER'));
      await store.appendEvents(taskDir, 'OTHER', prepared.events);
      await rewriteOf(store)(taskDir, dispatchId, rewrite);
      const events = [...prepared.events.map(rewritten), notice];
      for (let time = 0; time < 2; time += 1) {
        await remainsOf(store);
        await holdsEvents(store, events);
        await holdsEvents(store, prepared.events, { taskDir, dispatchId: 'OTHER' });
        sameContent(await store.getDispatchEnvelope(taskDir, dispatchId), envelope, 'getDispatchEnvelope');
        sameContent(await store.listTasks(), [{ taskDir, task: prepared.task }], 'listTasks');
        sameContent((await store.listDispatches()).dispatches.length, 2, 'the number of listed dispatches');
      }
      if (capabilities.search) {
        const hits = await optionalMethod(store, 'searchEvents')('censored', { taskDir, dispatchId });
        sameContent(hits.length, prepared.events.length, 'hits of the new content');
      }
      const late = sampleEvent('late');
      await store.appendEvent(taskDir, dispatchId, late);
      await store.appendEvent(taskDir, 'OTHER', late);
      await holdsEvents(store, [...events, late]);
    },
  },
  {
    name: 'shown-to-watchers',
    rule: null,
    title: 'a listener is called after a rewrite',
    needs: ['rewrite', 'watch'],
    run: async ({ store }) => {
      await prepareStore(store);
      const listener = createChangeListener();
      const stop = await optionalMethod(store, 'watch')({ taskDir, dispatchId }, listener.listen);
      await rewriteOf(store)(taskDir, dispatchId, rewrite);
      await listener.calledUntil('after the rewrite', async () => true);
      stop();
    },
  },
]);

function fail(): never {
  throw new Error('the rewrite ends');
}
