import assert from 'node:assert/strict';
import type { CapturedEvent, JsonObject } from '@hansard/provider';
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

const long = 'The length of a novel. '.repeat(20_000);

export const retryCases = caseFamily('idempotence', [
  {
    name: 'retry-after-thousands',
    rule: 3,
    title: 'a retry of the first event changes nothing after 5,000 others, and a conflict with it is refused',
    run: async ({ store }) => {
      const events = sampleEvents(5_000);
      await beginDispatch(store, events);
      const [first] = events as [CapturedEvent];
      await store.appendEvent(taskDir, dispatchId, first);
      await store.appendEvents(taskDir, dispatchId, [first, sampleEvent('next')]);
      await refuses('STORE_EVENT_CONFLICT', 'other content for the first event', () =>
        store.appendEvent(taskDir, dispatchId, sampleEvent('event-0', 'other content')),
      );
      await holdsEvents(store, [...events, sampleEvent('next')]);
    },
  },
  {
    name: 'conflict-of-each-field',
    rule: 3,
    title:
      'an event that differs in any one field is a conflict: links, message, and fields of newer versions',
    run: async ({ store }) => {
      const stored: CapturedEvent = { ...sampleEvent('one'), cause: ['a', 'b'], messageId: 'm', via: 'v' };
      await beginDispatch(store, [sampleEvent('a'), sampleEvent('b'), stored]);
      const { cause: _, ...withoutCause } = stored;
      const others: CapturedEvent[] = [
        { ...stored, messageId: 'n' },
        { ...stored, via: 'w' },
        { ...stored, follows: 'a' },
        { ...stored, retracts: ['a'] },
        { ...stored, cause: ['b', 'a'] },
        { ...stored, cause: ['a'] },
        { ...stored, cause: 'a' },
        { ...withoutCause, substance: 'a' },
        withoutCause,
        { ...stored, added: 'by a newer version' } as CapturedEvent,
      ];
      for (const event of others)
        await refuses('STORE_EVENT_CONFLICT', `appending ${JSON.stringify(event)}`, () =>
          store.appendEvent(taskDir, dispatchId, event),
        );
      await store.appendEvent(taskDir, dispatchId, stored);
      await holdsEvents(store, [sampleEvent('a'), sampleEvent('b'), stored]);
    },
  },
  {
    name: 'conflict-deep',
    rule: 3,
    title: 'a difference in one character at the end of a long text, or deep in an object, is a conflict',
    run: async ({ store }) => {
      const pairs: ReadonlyArray<readonly [JsonObject, JsonObject]> = [
        [{ text: `${long}.` }, { text: `${long}!` }],
        [{ text: `.${long}` }, { text: `!${long}` }],
        [{ a: { b: { c: { d: [{ e: 1 }] } } } }, { a: { b: { c: { d: [{ e: 2 }] } } } }],
        [
          { a: 1, b: 2 },
          { a: 2, b: 1 },
        ],
        [
          { a: 'b', c: 'd' },
          { a: 'bc', d: '' },
        ],
        [{ list: [1, 23] }, { list: [12, 3] }],
        [{ text: 'Case' }, { text: 'case' }],
        [{ text: 'a ' }, { text: 'a' }],
      ];
      await beginDispatch(store);
      for (const [index, [content, other]] of pairs.entries()) {
        await store.appendEvent(taskDir, dispatchId, valueEvent(`pair-${index}`, content));
        await refuses('STORE_EVENT_CONFLICT', `pair ${index}`, () =>
          store.appendEvent(taskDir, dispatchId, valueEvent(`pair-${index}`, other)),
        );
        await store.appendEvent(taskDir, dispatchId, valueEvent(`pair-${index}`, content));
      }
      sameContent(
        (await store.readEvents(taskDir, dispatchId, { last: 0 })).first,
        pairs.length,
        'the number of events',
      );
    },
  },
  {
    name: 'retry-of-an-ended-dispatch',
    rule: 3,
    title: 'a retry is safe after the dispatch ended and after its envelope changed',
    run: async ({ store }) => {
      await beginDispatch(store, prepared.events);
      await store.updateDispatch(taskDir, dispatchId, { status: 'completed', cost: 1 });
      for (const event of prepared.events) await store.appendEvent(taskDir, dispatchId, event);
      await refuses('STORE_EVENT_CONFLICT', 'other content', () =>
        store.appendEvents(taskDir, dispatchId, [sampleEvent('event-2', 'other content')]),
      );
      await holdsEvents(store, prepared.events);
    },
  },
  {
    name: 'retry-split-differently',
    rule: 3,
    title: 'a retry may divide its events into other batches than the first attempt',
    run: async ({ store }) => {
      const events = sampleEvents(9);
      await beginDispatch(store, events.slice(0, 4));
      await store.appendEvents(taskDir, dispatchId, events.slice(2, 7));
      for (const event of events.slice(1, 5)) await store.appendEvent(taskDir, dispatchId, event);
      await store.appendEvents(taskDir, dispatchId, events);
      await holdsEvents(store, events);
    },
  },
  {
    name: 'batches-under-way',
    rule: 3,
    title: 'batches that share events and do not wait for each other store each event once',
    run: async ({ store }) => {
      const events = sampleEvents(12);
      await beginDispatch(store);
      const errors = await errorsOf([
        () => store.appendEvents(taskDir, dispatchId, events.slice(0, 8)),
        () => store.appendEvents(taskDir, dispatchId, events.slice(4)),
        () => store.appendEvents(taskDir, dispatchId, events),
      ]);
      sameContent(errors.map(String), [], 'errors of the appends');
      const ids = (await store.getDispatchEvents(taskDir, dispatchId)).map(({ id }) => id);
      sameContent(ids.length, 12, 'the number of events');
      sameContent(new Set(ids).size, 12, 'the number of different events');
    },
  },
]);
