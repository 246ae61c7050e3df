import type { DispatchStoreProvider } from '@hansard/provider';
import { sameContent } from '../../checks/expectations.ts';
import {
  beginDispatch,
  dispatchId,
  optionalMethod,
  prepared,
  prepareStore,
  reopenClaimed,
  taskDir,
} from '../../checks/prepared-store.ts';
import { sampleEvent, sampleEvents } from '../../checks/sample-data.ts';
import { storeOperations } from '../../checks/store-operations.ts';
import { caseFamily, type NamedCase } from '../../run/conformance-case.ts';

const copies = storeOperations
  .filter(({ method }) => /^(get|find|read|list|search|claim|update)/.test(method) && method !== 'getRepairs')
  .map(
    ({ name, method, needs, call }): NamedCase => ({
      name: `copies-${name}`,
      rule: 4,
      title: `the result of ${method} is a copy: changing it changes no later read`,
      needs,
      run: async ({ store }) => {
        await prepareStore(store);
        const pristine = structuredClone(await call(store, taskDir, dispatchId));
        spoil(await call(store, taskDir, dispatchId));
        sameContent(
          await call(store, taskDir, dispatchId),
          pristine,
          `${method} after its last answer was changed`,
        );
      },
    }),
  );

export const readCases = caseFamily('reads', [
  ...copies,
  {
    name: 'copies-are-apart',
    rule: 4,
    title: 'two ways to read an event return two copies of it',
    run: async ({ store, capabilities }) => {
      await prepareStore(store);
      const answers = [
        await store.getDispatchEvents(taskDir, dispatchId),
        await store.getRecentEvents(taskDir, dispatchId, 3),
        (await store.readEvents(taskDir, dispatchId)).events,
        ...(capabilities.search ? [await optionalMethod(store, 'searchEvents')('text', { taskDir })] : []),
      ];
      const expected = structuredClone(answers);
      for (const [index, answer] of answers.entries()) {
        sameContent(answer, expected[index], 'an answer after the ones before it were changed');
        spoil(answer);
      }
    },
  },
  {
    name: 'recent-none',
    rule: 5,
    title: 'the last 0 events are an empty list',
    run: async ({ store }) => {
      await beginDispatch(store, prepared.events);
      sameContent(await store.getRecentEvents(taskDir, dispatchId, 0), [], 'getRecentEvents(0)');
    },
  },
  {
    name: 'recent-oldest-first',
    rule: 5,
    title: 'the last N events are in order, oldest first, for every N up to the number of events',
    run: async ({ store }) => {
      const events = sampleEvents(30);
      await beginDispatch(store, events);
      for (let count = 1; count <= events.length; count += 1)
        sameContent(
          await store.getRecentEvents(taskDir, dispatchId, count),
          events.slice(-count),
          `getRecentEvents(${count})`,
        );
    },
  },
  {
    name: 'recent-more-than-there-are',
    rule: 5,
    title: 'a request for more events than exist returns all of them',
    run: async ({ store }) => {
      await beginDispatch(store);
      sameContent(
        await store.getRecentEvents(taskDir, dispatchId, 5),
        [],
        'getRecentEvents(5) of an empty dispatch',
      );
      await store.appendEvents(taskDir, dispatchId, prepared.events);
      for (const count of [4, 1_000_000, Number.MAX_SAFE_INTEGER])
        sameContent(
          await store.getRecentEvents(taskDir, dispatchId, count),
          prepared.events,
          `getRecentEvents(${count})`,
        );
    },
  },
  {
    name: 'recent-of-any-size',
    rule: 5,
    title: 'the last N events are correct when events of very different sizes follow each other',
    run: async ({ store }) => {
      const sizes = [0, 1, 4_095, 4_096, 70_000, 0, 65_536, 3, 200_000, 16_384, 1, 131_071, 0];
      const events = sizes.map((size, index) =>
        sampleEvent(`event-${index}`, 'é🎈\n'.repeat(size / 4).padEnd(size)),
      );
      await beginDispatch(store);
      for (const event of events) await store.appendEvent(taskDir, dispatchId, event);
      for (let count = 1; count <= events.length; count += 1)
        sameContent(
          await store.getRecentEvents(taskDir, dispatchId, count),
          events.slice(-count),
          `getRecentEvents(${count})`,
        );
    },
  },
]);

/** Changes everything in a value that can be changed. */
function spoil(value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  for (const key of Object.keys(value)) {
    spoil(Reflect.get(value, key));
    Reflect.set(value, key, 'spoilt');
  }
  Reflect.set(value, 'added', 'spoilt');
}

/** `readEvents` with `last`. */
export const lastEventCases = caseFamily('last', [
  {
    name: 'none',
    rule: 5,
    title: 'the last 0 events are an empty page whose first is the number of events',
    run: async ({ store }) => {
      await beginDispatch(store);
      const read = () => store.readEvents(taskDir, dispatchId, { last: 0 });
      sameContent(await read(), { events: [], first: 0, next: -1 }, 'last: 0 of an empty dispatch');
      for (const [index, event] of sampleEvents(5).entries()) {
        await store.appendEvent(taskDir, dispatchId, event);
        sameContent(await read(), { events: [], first: index + 1, next: index }, 'last: 0');
      }
    },
  },
  {
    name: 'tail',
    rule: 5,
    title: 'the last N events are the end of the log, with the position of the first of them',
    run: async ({ store }) => {
      const events = sampleEvents(30);
      await beginDispatch(store, events);
      for (let last = 1; last <= events.length; last += 1)
        sameContent(
          await store.readEvents(taskDir, dispatchId, { last }),
          { events: events.slice(-last), first: events.length - last, next: events.length - 1 },
          `readEvents({ last: ${last} })`,
        );
    },
  },
  {
    name: 'more-than-there-are',
    rule: 5,
    title: 'a request for more of the last events than exist returns all of them',
    run: async ({ store }) => {
      await beginDispatch(store);
      sameContent(
        await store.readEvents(taskDir, dispatchId, { last: 5 }),
        { events: [], first: 0, next: -1 },
        'last: 5 of an empty dispatch',
      );
      await store.appendEvents(taskDir, dispatchId, prepared.events);
      for (const last of [4, 1_001, 1_000_000, Number.MAX_SAFE_INTEGER])
        sameContent(
          await store.readEvents(taskDir, dispatchId, { last }),
          { events: prepared.events, first: 0, next: 2 },
          `readEvents({ last: ${last} })`,
        );
    },
  },
  {
    name: 'next-reads-on',
    rule: 5,
    title: 'the next of the last events, including of none, reads the events that are appended after them',
    run: async ({ store }) => {
      await beginDispatch(store, prepared.events);
      for (const last of [0, 2]) {
        const { next } = await store.readEvents(taskDir, dispatchId, { last });
        const late = sampleEvent(`late-${last}`);
        await store.appendEvent(taskDir, dispatchId, late);
        sameContent(
          await store.readEvents(taskDir, dispatchId, { after: next }),
          { events: [late], first: next + 1, next: next + 1 },
          `the page after the last ${last} events`,
        );
      }
    },
  },
  {
    name: 'long-dispatch',
    rule: 5,
    title: 'the last events of a dispatch of 3,000 keep their positions while it grows and is read by pages',
    run: async ({ store }) => {
      const events = sampleEvents(3_000);
      await beginDispatch(store, events);
      for (const [last, after] of [
        [1, 511],
        [513, 2_047],
        [1_500, -1],
        [2_999, 2_990],
      ] as const) {
        const added = sampleEvent(`after-${last}`);
        await store.appendEvent(taskDir, dispatchId, added);
        events.push(added);
        sameContent(
          await store.readEvents(taskDir, dispatchId, { last }),
          { events: events.slice(-last), first: events.length - last, next: events.length - 1 },
          `readEvents({ last: ${last} })`,
        );
        sameContent(
          await store.readEvents(taskDir, dispatchId, { after, limit: 3 }),
          { events: events.slice(after + 1, after + 4), first: after + 1, next: after + 3 },
          `readEvents({ after: ${after} })`,
        );
      }
    },
  },
  {
    name: 'of-any-size',
    rule: 5,
    title: 'the last N events are correct when events of very different sizes follow each other',
    run: async ({ store }) => {
      const sizes = [0, 1, 4_095, 70_000, 0, 65_536, 3, 200_000, 1, 131_071, 0];
      const events = sizes.map((size, index) =>
        sampleEvent(`event-${index}`, 'é🎈\n'.repeat(size / 4).padEnd(size)),
      );
      await beginDispatch(store, events.slice(0, 4));
      for (const event of events.slice(4)) await store.appendEvent(taskDir, dispatchId, event);
      for (let last = 0; last <= events.length; last += 1)
        sameContent(
          await store.readEvents(taskDir, dispatchId, { last }),
          {
            events: events.slice(events.length - last),
            first: events.length - last,
            next: events.length - 1,
          },
          `readEvents({ last: ${last} })`,
        );
    },
  },
  {
    name: 'reopened',
    rule: 5,
    title: 'the last events keep their positions after the store was opened again and written to',
    needs: ['durability'],
    run: async ({ store, reopen }) => {
      const events = sampleEvents(1_030);
      await beginDispatch(store, events.slice(0, 1_000));
      const again = await reopenClaimed({ reopen });
      for (const event of events.slice(1_000)) await again.appendEvent(taskDir, dispatchId, event);
      const expected = { events: events.slice(-40), first: 990, next: 1_029 };
      const read = (opened: DispatchStoreProvider) => opened.readEvents(taskDir, dispatchId, { last: 40 });
      sameContent(await read(again), expected, 'readEvents({ last: 40 }) after appends');
      sameContent(await read(await reopen()), expected, 'readEvents({ last: 40 }) once more opened again');
    },
  },
]);
