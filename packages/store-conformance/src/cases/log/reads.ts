import { sameContent } from '../../checks/expectations.ts';
import {
  beginDispatch,
  dispatchId,
  optionalMethod,
  prepared,
  prepareStore,
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
