import { storeErrors } from '@hansard/provider';
import { appending, type Events, later, type Mutant, storing } from './mutant.ts';

const sameButFor = (fields: readonly string[]) => (one: object, other: object) =>
  JSON.stringify({ ...one, ...Object.fromEntries(fields.map((field) => [field, 0])) }) ===
  JSON.stringify({ ...other, ...Object.fromEntries(fields.map((field) => [field, 0])) });

/** A store that compares a known id by this, and skips the event if it finds it equal. */
const comparing = (isSame: (stored: Events[number], given: Events[number]) => boolean) =>
  appending((good) => (taskDir, dispatchId, events) => {
    const stored = new Map(good.getDispatchEvents(taskDir, dispatchId).map((event) => [event.id, event]));
    const kept = events.map((event) => {
      const known = stored.get(event.id);
      return known !== undefined && isSame(known, event) ? known : event;
    });
    good.appendEvents(taskDir, dispatchId, kept);
  });

/** A store that knows the last ids only. */
const forgetting = (window: number) =>
  appending((good, world) => (taskDir, dispatchId, events) => {
    const { length } = good.getDispatchEvents(taskDir, dispatchId);
    const dispatch = world.data.dispatches.get(taskDir)?.get(dispatchId);
    if (dispatch === undefined || length <= window) return good.appendEvents(taskDir, dispatchId, events);
    const old = dispatch.events.slice(0, -window);
    dispatch.events = dispatch.events.slice(-window);
    try {
      good.appendEvents(taskDir, dispatchId, events);
    } finally {
      dispatch.events = [...old, ...dispatch.events];
    }
  });

/** Stores that know a retry or a conflict by the wrong facts. */
export const retryMutants: readonly Mutant[] = [
  ['accepts any content under a known id', 'idempotence/conflict', comparing(() => true)],
  [
    'compares the type and the time of a retry',
    'idempotence/conflict',
    comparing((stored, given) => stored.type === given.type && stored.timestamp === given.timestamp),
  ],
  [
    'compares the data of a retry only',
    'idempotence/conflict',
    comparing((stored, given) => JSON.stringify(stored.data) === JSON.stringify(given.data)),
  ],
  [
    'does not compare the causes of a retry',
    'idempotence/conflict-of-each-field',
    comparing(sameButFor(['cause'])),
  ],
  [
    'does not compare the message of a retry',
    'idempotence/conflict-of-each-field',
    comparing(sameButFor(['messageId'])),
  ],
  [
    'compares the causes of a retry as a set',
    'idempotence/conflict-of-each-field',
    comparing(
      (stored, given) =>
        JSON.stringify({ ...stored, cause: [...(stored.cause ?? [])].sort() }) ===
        JSON.stringify({ ...given, cause: [...(given.cause ?? [])].sort() }),
    ),
  ],
  [
    'compares the length of a retry',
    'idempotence/conflict-deep',
    comparing(
      (stored, given) =>
        JSON.stringify(stored).length === JSON.stringify(given).length && stored.type === given.type,
    ),
  ],
  [
    'compares the first 64 KB of a retry',
    'idempotence/conflict-deep',
    comparing(
      (stored, given) =>
        JSON.stringify(stored).length > 65_536 &&
        JSON.stringify(stored).slice(0, 65_536) === JSON.stringify(given).slice(0, 65_536),
    ),
  ],
  [
    'compares the sorted characters of a retry',
    'idempotence/conflict-deep',
    comparing(
      (stored, given) =>
        JSON.stringify(stored).length < 500 &&
        [...JSON.stringify(stored)].sort().join('') === [...JSON.stringify(given)].sort().join(''),
    ),
  ],
  [
    'compares retries without their case',
    'idempotence/conflict-deep',
    comparing(
      (stored, given) => JSON.stringify(stored).toLowerCase() === JSON.stringify(given).toLowerCase(),
    ),
  ],
  [
    'compares retries without white space',
    'idempotence/conflict-deep',
    comparing(
      (stored, given) =>
        JSON.stringify(stored).replace(/\s+"/g, '"') === JSON.stringify(given).replace(/\s+"/g, '"'),
    ),
  ],
  [
    'compares retries with ==',
    'idempotence/close-values',
    comparing(
      (stored, given) =>
        String(stored.data.value) === String(given.data.value) &&
        stored.type === given.type &&
        'value' in given.data,
    ),
  ],
  [
    'refuses a retry with its keys in another order',
    'idempotence/key-order',
    appending((good) => (taskDir, dispatchId, events) => {
      const stored = new Map(
        good.getDispatchEvents(taskDir, dispatchId).map((event) => [event.id, JSON.stringify(event)]),
      );
      for (const event of events)
        if (stored.has(event.id) && stored.get(event.id) !== JSON.stringify(event))
          throw storeErrors.error('STORE_EVENT_CONFLICT', 'Not the same text.');
      good.appendEvents(taskDir, dispatchId, events);
    }),
  ],
  [
    'refuses every retry',
    'idempotence/retry-same-event',
    appending((good) => (taskDir, dispatchId, events) => {
      const known = good.getDispatchEvents(taskDir, dispatchId).map(({ id }) => id);
      if (events.some(({ id }) => known.includes(id)))
        throw storeErrors.error('STORE_EVENT_CONFLICT', 'It exists.');
      good.appendEvents(taskDir, dispatchId, events);
    }),
  ],
  ['knows the last 1,000 ids', 'idempotence/retry-after-thousands', forgetting(1_000)],
  ['knows the last two ids', 'idempotence/retry-same-event', forgetting(2)],
  [
    'skips a batch whose first event is known',
    'idempotence/batch-with-stored-events',
    appending((good) => (taskDir, dispatchId, events) => {
      const known = good.getDispatchEvents(taskDir, dispatchId);
      const isKnown = known.some(({ id }) => id === events[0]?.id);
      good.appendEvents(
        taskDir,
        dispatchId,
        isKnown ? events.filter(({ id }) => known.some((one) => one.id === id)) : events,
      );
    }),
  ],
  [
    'knows batches, not events',
    'idempotence/retry-split-differently',
    appending((good) => {
      const batches = new Set<string>();
      return (taskDir, dispatchId, events) => {
        const batch = JSON.stringify([taskDir, dispatchId, events]);
        const known = good.getDispatchEvents(taskDir, dispatchId).map(({ id }) => id);
        if (!batches.has(batch) && events.some(({ id }) => known.includes(id)))
          throw storeErrors.error('STORE_EVENT_CONFLICT', 'It exists.');
        good.appendEvents(taskDir, dispatchId, events);
        batches.add(batch);
      };
    }),
  ],
  [
    'stores the last of equal events of a batch',
    'idempotence/batch-with-itself',
    appending((good) => (taskDir, dispatchId, events) => {
      const latest = events.filter(
        ({ id }, index) => !events.slice(index + 1).some((other) => other.id === id),
      );
      good.appendEvents(taskDir, dispatchId, latest);
    }),
  ],
  [
    'compares ids without their case',
    'idempotence/ids-told-apart',
    storing((event) => ({ ...event, id: event.id.toLowerCase() })),
  ],
  [
    'has one set of ids for all dispatches',
    'idempotence/other-dispatch',
    appending((good) => {
      const all = new Map<string, Events[number]>();
      return (taskDir, dispatchId, events) => {
        for (const event of events) {
          const other = all.get(event.id);
          if (other !== undefined && JSON.stringify(other) !== JSON.stringify(event))
            throw storeErrors.error('STORE_EVENT_CONFLICT', 'It exists elsewhere.');
          all.set(event.id, event);
        }
        good.appendEvents(taskDir, dispatchId, events);
      };
    }),
  ],
  [
    'looks for a known id before it waits',
    'idempotence/retry-under-way',
    appending((good, world) => async (taskDir, dispatchId, events) => {
      const known = good.getDispatchEvents(taskDir, dispatchId).map(({ id }) => id);
      good.appendEvents(taskDir, dispatchId, []);
      await later();
      const dispatch = world.data.dispatches.get(taskDir)?.get(dispatchId);
      if (dispatch !== undefined)
        dispatch.events = [
          ...dispatch.events,
          ...structuredClone(events.filter(({ id }) => !known.includes(id))),
        ];
    }),
  ],
  [
    'looks for known ids of a batch before it waits',
    'idempotence/batches-under-way',
    (good, world) => ({
      appendEvents: async (taskDir, dispatchId, events) => {
        const known = good.getDispatchEvents(taskDir, dispatchId).map(({ id }) => id);
        await later();
        const dispatch = world.data.dispatches.get(taskDir)?.get(dispatchId);
        if (dispatch !== undefined)
          dispatch.events = [
            ...dispatch.events,
            ...structuredClone(events.filter(({ id }) => !known.includes(id))),
          ];
      },
    }),
  ],
  [
    'forgets the content of its events when a dispatch ends',
    'idempotence/retry-of-an-ended-dispatch',
    (good) => ({
      appendEvents: (taskDir, dispatchId, events) => {
        const { status } = good.getDispatchEnvelope(taskDir, dispatchId) ?? {};
        const known = good.getDispatchEvents(taskDir, dispatchId).map(({ id }) => id);
        const added = status === 'running' ? events : events.filter(({ id }) => !known.includes(id));
        good.appendEvents(taskDir, dispatchId, added);
      },
    }),
  ],
];
