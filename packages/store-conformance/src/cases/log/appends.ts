import assert from 'node:assert/strict';
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
    atEachDurability: true,
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

/** Long batches, and appends that do not wait for each other. */
export const appendAtOnceCases = caseFamily('appends', [
  {
    name: 'long-batch-all-or-nothing',
    rule: 2,
    title: 'a conflict at the end of a batch of 2,000 events stores none of them',
    run: async ({ store }) => {
      await beginDispatch(store, prepared.events);
      const batch = [...sampleEvents(2_000, 'batch'), sampleEvent('event-1', 'other content')];
      await refuses('STORE_EVENT_CONFLICT', 'appendEvents', () =>
        store.appendEvents(taskDir, dispatchId, batch),
      );
      await holdsEvents(store, prepared.events);
      await store.appendEvents(taskDir, dispatchId, batch.slice(0, -1));
      await holdsEvents(store, [...prepared.events, ...batch.slice(0, -1)]);
    },
  },
  {
    name: 'long-log',
    rule: 2,
    title: 'a dispatch has all of 10,050 events, in every way to read it',
    run: async ({ store }) => {
      const events = sampleEvents(10_050);
      await beginDispatch(store);
      for (let first = 0; first < events.length; first += 2_010)
        await store.appendEvents(taskDir, dispatchId, events.slice(first, first + 2_010));
      await holdsEvents(store, events);
      for (const after of [9_997, 9_998, 9_999, 10_048])
        sameContent(
          await store.readEvents(taskDir, dispatchId, { after, limit: 2 }),
          {
            events: events.slice(after + 1, after + 3),
            first: after + 1,
            next: Math.min(after + 2, events.length - 1),
          },
          `readEvents({ after: ${after} })`,
        );
    },
  },
  {
    name: 'large-batch',
    rule: 2,
    title: 'a batch of 12 MB is stored completely',
    run: async ({ store }) => {
      const batch = sampleEvents(40, 'large').map((event, index) => ({
        ...event,
        data: { text: `${index} `.repeat(100_000) },
      }));
      await beginDispatch(store);
      await store.appendEvents(taskDir, dispatchId, batch);
      await holdsEvents(store, batch);
    },
  },
  {
    name: 'batches-at-once',
    rule: 2,
    title: 'batches that do not wait for each other are stored one after the other, none inside another one',
    run: async ({ store }) => {
      await beginDispatch(store);
      const batches = ['a', 'b', 'c', 'd'].map((name) => sampleEvents(30, name));
      const errors = await errorsOf([
        ...batches.map((batch) => () => store.appendEvents(taskDir, dispatchId, batch)),
        () => store.appendEvent(taskDir, dispatchId, sampleEvent('single')),
      ]);
      sameContent(errors.map(String), [], 'errors of the appends');
      const stored = await store.getDispatchEvents(taskDir, dispatchId);
      assert.equal(stored.length, 121, `${stored.length} events are stored, expected 121`);
      for (const batch of batches) {
        const start = stored.findIndex(({ id }) => id === batch[0]?.id);
        sameContent(stored.slice(start, start + 30), batch, `the events from position ${start}`);
      }
    },
  },
  {
    name: 'refused-beside-accepted',
    rule: 2,
    title: 'a refused batch removes no event that is appended at the same time',
    run: async ({ store }) => {
      await beginDispatch(store, prepared.events);
      const refused = [...sampleEvents(20, 'refused'), sampleEvent('event-1', 'other content')];
      const accepted = sampleEvents(3, 'accepted') as [CapturedEvent, CapturedEvent, CapturedEvent];
      const errors = await errorsOf([
        () => store.appendEvent(taskDir, dispatchId, accepted[0]),
        () => store.appendEvents(taskDir, dispatchId, refused),
        () => store.appendEvents(taskDir, dispatchId, [accepted[1]]),
        () => store.appendEvent(taskDir, dispatchId, accepted[2]),
      ]);
      assert.equal(errors.length, 1, `${errors.length} of four appends failed, expected one`);
      const stored = await store.getDispatchEvents(taskDir, dispatchId);
      const ids = stored.map(({ id }) => id).sort();
      const expected = [...prepared.events, ...accepted].map(({ id }) => id).sort();
      sameContent(ids, expected, 'the ids of the stored events');
    },
  },
  {
    name: 'seen-whole',
    rule: 2,
    title: 'a read while a batch is appended returns all of the batch or nothing of it',
    run: async ({ store }) => {
      await beginDispatch(store, prepared.events);
      let isDone = false;
      const append = async () => {
        try {
          await store.appendEvents(taskDir, dispatchId, sampleEvents(200, 'batch'));
        } finally {
          isDone = true;
        }
      };
      const counts = new Set<number>();
      const read = async () => {
        while (!isDone) {
          counts.add((await store.readEvents(taskDir, dispatchId, { last: 0 })).first);
          // Lets the I/O of the append proceed.
          await new Promise(setImmediate);
        }
      };
      const errors = await errorsOf([append, read]);
      sameContent(errors.map(String), [], 'errors of the calls');
      for (const count of counts)
        assert.ok(count === 3 || count === 203, `a read found ${count} events, expected 3 or 203`);
      sameContent(
        (await store.readEvents(taskDir, dispatchId, { last: 0 })).first,
        203,
        'the number of events',
      );
    },
  },
  {
    name: 'equal-times',
    rule: 4,
    title: 'events of the same millisecond stay in the order of their appends',
    run: async ({ store }) => {
      const events = Array.from({ length: 60 }, (_, index) => sampleEvent(`id-${(index * 37) % 60}`));
      await beginDispatch(store, events.slice(0, 20));
      for (const event of events.slice(20)) await store.appendEvent(taskDir, dispatchId, event);
      await holdsEvents(store, events);
    },
  },
]);
