import assert from 'node:assert/strict';
import type { CapturedEvent } from '@hansard/provider';
import { errorsOf, refuses, sameContent } from '../../checks/expectations.ts';
import { beginDispatch, dispatchId, holdsEvents, prepared, taskDir } from '../../checks/prepared-store.ts';
import {
  sampleEnvelope,
  sampleEvent,
  sampleEvents,
  startOfDay,
  valueEvent,
} from '../../checks/sample-data.ts';
import { caseFamily } from '../../run/conformance-case.ts';

const second = sampleEvent('event-1');

export const idempotenceCases = caseFamily('idempotence', [
  {
    name: 'retry-same-event',
    rule: 3,
    title: 'appending an event again changes nothing, even after many others',
    run: async ({ store }) => {
      await beginDispatch(store, prepared.events);
      for (const event of prepared.events)
        await store.appendEvent(taskDir, dispatchId, structuredClone(event));
      await holdsEvents(store, prepared.events);
      await store.appendEvent(taskDir, dispatchId, sampleEvent('next'));
      await holdsEvents(store, [...prepared.events, sampleEvent('next')]);
    },
  },
  {
    name: 'retry-same-batch',
    rule: 3,
    title: 'appending a batch again changes nothing',
    run: async ({ store }) => {
      await beginDispatch(store, prepared.events);
      await store.appendEvents(taskDir, dispatchId, structuredClone([...prepared.events]));
      await store.appendEvents(taskDir, dispatchId, [structuredClone(second)]);
      await holdsEvents(store, prepared.events);
    },
  },
  {
    name: 'batch-with-stored-events',
    rule: 3,
    title: 'a batch skips events that already exist and adds the rest in order',
    run: async ({ store }) => {
      await beginDispatch(store, prepared.events);
      const [third, fourth] = sampleEvents(2, 'new') as [CapturedEvent, CapturedEvent];
      await store.appendEvents(taskDir, dispatchId, [second, third, ...prepared.events, fourth]);
      await holdsEvents(store, [...prepared.events, third, fourth]);
    },
  },
  {
    name: 'batch-with-itself',
    rule: 3,
    title: 'an event that is twice in a batch counts once, at its first place',
    run: async ({ store }) => {
      await beginDispatch(store);
      const [first, other] = sampleEvents(2) as [CapturedEvent, CapturedEvent];
      await store.appendEvents(taskDir, dispatchId, [first, other, other, structuredClone(first)]);
      await holdsEvents(store, [first, other]);
    },
  },
  {
    name: 'conflict',
    rule: 3,
    title:
      'the id of a stored event with any other content is STORE_EVENT_CONFLICT, and the stored event stays',
    run: async ({ store }) => {
      await beginDispatch(store, prepared.events);
      const others: CapturedEvent[] = [
        { ...second, data: { text: 'another text' } },
        { ...second, data: { ...second.data, more: null } },
        { ...second, data: {} },
        { ...second, type: 'agent:thinking' },
        { ...second, timestamp: '2026-03-01T09:00:00.001Z' },
        { ...second, agentId: 'agent_001' },
        { ...second, v: 2 },
      ];
      for (const event of others) {
        const what = `appending ${JSON.stringify(event)}`;
        await refuses('STORE_EVENT_CONFLICT', what, () => store.appendEvent(taskDir, dispatchId, event));
        await refuses('STORE_EVENT_CONFLICT', what, () => store.appendEvents(taskDir, dispatchId, [event]));
      }
      await holdsEvents(store, prepared.events);
    },
  },
  {
    name: 'key-order',
    rule: 3,
    title: 'the same content with its keys in another order is the same event',
    run: async ({ store }) => {
      await beginDispatch(store);
      const stored = valueEvent('one', { a: 1, b: { c: [1, 2], d: null } });
      await store.appendEvent(taskDir, dispatchId, stored);
      const reordered: CapturedEvent = {
        data: { b: { d: null, c: [1, 2] }, a: 1 },
        timestamp: startOfDay,
        type: 'kit:value',
        id: 'one',
      };
      await store.appendEvent(taskDir, dispatchId, reordered);
      await store.appendEvents(taskDir, dispatchId, [reordered]);
      await holdsEvents(store, [stored]);
      const itemsReordered = valueEvent('one', { a: 1, b: { c: [2, 1], d: null } });
      await refuses('STORE_EVENT_CONFLICT', 'the same items in another order', () =>
        store.appendEvent(taskDir, dispatchId, itemsReordered),
      );
    },
  },
  {
    name: 'close-values',
    rule: 3,
    title: 'values that only look equal are different content',
    run: async ({ store }) => {
      await beginDispatch(store);
      const pairs = [
        [1, '1'],
        [null, 'null'],
        [0, false],
        [[], {}],
        ['é', 'e\u0301'],
        ['\ud800', '\ufffd'],
        [9007199254740991, 9007199254740990],
      ] as const;
      for (const [index, [value, lookalike]] of pairs.entries()) {
        await store.appendEvent(taskDir, dispatchId, valueEvent(`pair-${index}`, { value: value as string }));
        const other = valueEvent(`pair-${index}`, { value: lookalike as string });
        await refuses(
          'STORE_EVENT_CONFLICT',
          `${JSON.stringify(lookalike)} over ${JSON.stringify(value)}`,
          () => store.appendEvent(taskDir, dispatchId, other),
        );
      }
    },
  },
  {
    name: 'ids-told-apart',
    rule: 3,
    title: 'event ids differ by every character, and may be names that JavaScript knows',
    run: async ({ store }) => {
      await beginDispatch(store);
      const ids = ['a', 'A', 'a.1', 'a:1', 'a-1', '1', '01', '__proto__', 'constructor', 'x'.repeat(128)];
      const events = ids.map((id) => sampleEvent(id));
      for (const event of events) await store.appendEvent(taskDir, dispatchId, event);
      await store.appendEvents(taskDir, dispatchId, events);
      await holdsEvents(store, events);
      for (const id of ids)
        await refuses('STORE_EVENT_CONFLICT', id, () =>
          store.appendEvent(taskDir, dispatchId, sampleEvent(id, '?')),
        );
    },
  },
  {
    name: 'other-dispatch',
    rule: 3,
    title: 'the same event id in two dispatches is two events',
    run: async ({ store }) => {
      await beginDispatch(store, [sampleEvent('shared', 'here')]);
      await store.createDispatch(taskDir, sampleEnvelope('OTHER'));
      await store.appendEvent(taskDir, 'OTHER', sampleEvent('shared', 'there'));
      await holdsEvents(store, [sampleEvent('shared', 'here')]);
      await holdsEvents(store, [sampleEvent('shared', 'there')], { taskDir, dispatchId: 'OTHER' });
    },
  },
  {
    name: 'retry-under-way',
    rule: 3,
    title: 'a retry at the same time counts once; of two different events with one id, exactly one is stored',
    run: async ({ store }) => {
      await beginDispatch(store);
      const event = sampleEvent('one');
      const retries = await errorsOf(
        [event, event, event].map((e) => () => store.appendEvent(taskDir, dispatchId, e)),
      );
      sameContent(retries.map(String), [], 'errors of the retries');
      await holdsEvents(store, [event]);
      const rivals = [sampleEvent('two', 'this'), sampleEvent('two', 'that')];
      const lost = await errorsOf(rivals.map((e) => () => store.appendEvent(taskDir, dispatchId, e)));
      assert.equal(lost.length, 1, `${lost.length} of two rivals failed, expected one`);
      await refuses('STORE_EVENT_CONFLICT', 'the rival that lost', () => Promise.reject(lost[0]));
      sameContent((await store.getDispatchEvents(taskDir, dispatchId)).length, 2, 'the number of events');
    },
  },
]);
