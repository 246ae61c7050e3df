import type { CapturedEvent, JsonObject } from '@hansard/provider';
import { errorsOf, refuses, sameContent } from '../../checks/expectations.ts';
import { beginDispatch, dispatchId, holdsEvents, prepared, taskDir } from '../../checks/prepared-store.ts';
import { sampleEvent, sampleEvents, valueEvent } from '../../checks/sample-data.ts';
import { caseFamily } from '../../run/conformance-case.ts';

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
