import type { CapturedEvent } from '@hansard/provider';
import { errorsOf, refuses, sameContent } from '../../checks/expectations.ts';
import { beginDispatch, dispatchId, holdsEvents, prepared, taskDir } from '../../checks/prepared-store.ts';
import { sampleEvent, sampleEvents, valueEvent } from '../../checks/sample-data.ts';
import { caseFamily } from '../../run/conformance-case.ts';

const changed = sampleEvent('event-1', 'not what is stored');

export const appendCases = caseFamily('appends', [
  {
    name: 'order',
    rule: 4,
    title: 'events stay in the order of their appends, with any ids and times',
    run: async ({ store }) => {
      await beginDispatch(store);
      const events: CapturedEvent[] = ['c', 'a', 'B', 'b', '10', '9', '2'].map((id, index) => ({
        ...sampleEvent(id),
        timestamp: `2026-03-01T0${9 - index}:00:00.000Z`,
      }));
      for (const event of events.slice(0, 3)) await store.appendEvent(taskDir, dispatchId, event);
      await store.appendEvents(taskDir, dispatchId, events.slice(3));
      await holdsEvents(store, events);
    },
  },
  {
    name: 'each-is-readable',
    rule: 2,
    title: 'an event can be read as soon as its append returned',
    run: async ({ store }) => {
      await beginDispatch(store);
      const events = sampleEvents(10);
      for (const [index, event] of events.entries()) {
        await store.appendEvent(taskDir, dispatchId, event);
        await holdsEvents(store, events.slice(0, index + 1));
      }
    },
  },
  {
    name: 'batch-is-whole',
    rule: 2,
    title: 'a batch of 2,000 events is stored completely and in order',
    run: async ({ store }) => {
      await beginDispatch(store, prepared.events);
      const batch = sampleEvents(2_000, 'batch');
      await store.appendEvents(taskDir, dispatchId, batch);
      await holdsEvents(store, [...prepared.events, ...batch]);
    },
  },
  {
    name: 'empty-batch',
    rule: 2,
    title: 'an empty batch changes nothing',
    run: async ({ store }) => {
      await beginDispatch(store, prepared.events);
      await store.appendEvents(taskDir, dispatchId, []);
      await holdsEvents(store, prepared.events);
    },
  },
  {
    name: 'batch-all-or-nothing',
    rule: 2,
    title: 'a conflict anywhere in a batch stores no event of the batch and no id',
    run: async ({ store }) => {
      await beginDispatch(store, prepared.events);
      const [first, second] = sampleEvents(2, 'batch') as [CapturedEvent, CapturedEvent];
      const batches = [
        [changed, first, second],
        [first, changed, second],
        [first, second, changed],
      ];
      for (const batch of batches) {
        await refuses('STORE_EVENT_CONFLICT', 'appendEvents', () =>
          store.appendEvents(taskDir, dispatchId, batch),
        );
        await holdsEvents(store, prepared.events);
      }
      const later = [sampleEvent(second.id, 'other content under an id of the refused batch'), first];
      await store.appendEvents(taskDir, dispatchId, later);
      await holdsEvents(store, [...prepared.events, ...later]);
    },
  },
  {
    name: 'batch-conflict-in-itself',
    rule: 2,
    title: 'two different events with one id in a batch are a conflict, and nothing is stored',
    run: async ({ store }) => {
      await beginDispatch(store, prepared.events);
      const batch = [sampleEvent('new'), sampleEvent('twice', 'one'), sampleEvent('twice', 'two')];
      await refuses('STORE_EVENT_CONFLICT', 'appendEvents', () =>
        store.appendEvents(taskDir, dispatchId, batch),
      );
      await holdsEvents(store, prepared.events);
      await store.appendEvent(taskDir, dispatchId, sampleEvent('twice', 'two'));
      await holdsEvents(store, [...prepared.events, sampleEvent('twice', 'two')]);
    },
  },
  {
    name: 'keeps-a-copy',
    rule: 4,
    title: 'changing an event or a list after its append does not change the log',
    run: async ({ store }) => {
      await beginDispatch(store);
      const original = () => valueEvent('one', { list: [1, 2], deep: { text: 'as it was' } });
      const single = original();
      await store.appendEvent(taskDir, dispatchId, single);
      Object.assign(single.data, { list: 'changed', deep: null });
      const inBatch = { ...original(), id: 'two' };
      const batch = [inBatch];
      await store.appendEvents(taskDir, dispatchId, batch);
      (inBatch.data.list as number[]).push(3);
      batch.length = 0;
      await holdsEvents(store, [original(), { ...original(), id: 'two' }]);
    },
  },
  {
    name: 'calls-under-way',
    rule: 4,
    title: 'appends that do not wait for each other are all stored, once',
    run: async ({ store }) => {
      await beginDispatch(store);
      const events = sampleEvents(50);
      const errors = await errorsOf(
        events.map((event) => () => store.appendEvent(taskDir, dispatchId, event)),
      );
      sameContent(errors.map(String), [], 'errors of the appends');
      const stored = await store.getDispatchEvents(taskDir, dispatchId);
      const byNumber = stored.toSorted((one, other) => Number(one.id.slice(6)) - Number(other.id.slice(6)));
      sameContent(byNumber, events, 'the events, sorted');
      await holdsEvents(store, stored);
    },
  },
  {
    name: 'update-beside',
    rule: 4,
    title: 'changes of the envelope beside appends change no event, and appends no envelope',
    run: async ({ store }) => {
      await beginDispatch(store);
      const events = sampleEvents(20);
      for (const [index, event] of events.entries()) {
        const errors = await errorsOf([
          () => store.appendEvent(taskDir, dispatchId, event),
          () => store.updateDispatch(taskDir, dispatchId, { cost: index }),
        ]);
        sameContent(errors.map(String), [], 'errors of the calls');
      }
      await holdsEvents(store, events);
      sameContent(
        await store.getDispatchEnvelope(taskDir, dispatchId),
        { ...prepared.envelope, cost: 19 },
        'getDispatchEnvelope',
      );
    },
  },
]);
