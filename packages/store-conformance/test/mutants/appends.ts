import { storeErrors } from '@hansard/provider';
import { appending, later, type Mutant } from './mutant.ts';

/** A store that writes a batch in parts, each by itself. */
const inParts = (size: number) =>
  appending((good) => (taskDir, dispatchId, events) => {
    for (let start = 0; start < Math.max(1, events.length); start += size)
      good.appendEvents(taskDir, dispatchId, events.slice(start, start + size));
  });

/** Stores that lose, double or reorder events, or know a retry by the wrong facts. */
export const appendMutants: readonly Mutant[] = [
  ['writes each event of a batch by itself', 'appends/batch-all-or-nothing', inParts(1)],
  ['writes a batch in transactions of 500', 'appends/long-batch-all-or-nothing', inParts(500)],
  ['writes a batch in transactions of 1,999', 'appends/long-batch-all-or-nothing', inParts(1_999)],
  [
    'checks a batch against the log, not against itself',
    'appends/batch-conflict-in-itself',
    appending(
      (good) => (taskDir, dispatchId, events) =>
        good.appendEvents(taskDir, dispatchId, [
          ...new Map(events.map((event) => [event.id, event])).values(),
        ]),
    ),
  ],
  [
    'sorts events by time',
    'appends/order',
    appending((good, world) => (taskDir, dispatchId, events) => {
      good.appendEvents(taskDir, dispatchId, events);
      world.data.dispatches
        .get(taskDir)
        ?.get(dispatchId)
        ?.events.sort((one, other) => ((one.timestamp ?? '') < (other.timestamp ?? '') ? -1 : 1));
    }),
  ],
  [
    'sorts events by id within a millisecond',
    'appends/equal-times',
    appending((good, world) => (taskDir, dispatchId, events) => {
      good.appendEvents(taskDir, dispatchId, events);
      world.data.dispatches
        .get(taskDir)
        ?.get(dispatchId)
        ?.events.sort((one, other) => (one.timestamp === other.timestamp && one.id > other.id ? 1 : -1));
    }),
  ],
  [
    'drops every tenth event',
    'appends/each-is-readable',
    appending(
      (good) => (taskDir, dispatchId, events) =>
        good.appendEvents(
          taskDir,
          dispatchId,
          events.filter(({ id }) => !id.endsWith('-9')),
        ),
    ),
  ],
  [
    'stores 1,000 events of a batch',
    'appends/batch-is-whole',
    appending(
      (good) => (taskDir, dispatchId, events) =>
        good.appendEvents(taskDir, dispatchId, events.slice(0, 1_000)),
    ),
  ],
  [
    'loses the event at position 10,000',
    'appends/long-log',
    appending((good, world) => (taskDir, dispatchId, events) => {
      good.appendEvents(taskDir, dispatchId, events);
      const dispatch = world.data.dispatches.get(taskDir)?.get(dispatchId);
      if (dispatch !== undefined && dispatch.events.length > 10_000)
        dispatch.events = dispatch.events.toSpliced(10_000, 1);
    }),
  ],
  [
    'refuses an empty batch',
    'appends/empty-batch',
    appending((good) => (taskDir, dispatchId, events) => {
      if (events.length === 0) throw storeErrors.error('STORE_UNAVAILABLE', 'Nothing to write.');
      good.appendEvents(taskDir, dispatchId, events);
    }),
  ],
  [
    'refuses a batch above 10 MB',
    'appends/large-batch',
    appending((good) => (taskDir, dispatchId, events) => {
      if (JSON.stringify(events).length > 10_000_000)
        throw storeErrors.error('STORE_UNAVAILABLE', 'Too large.');
      good.appendEvents(taskDir, dispatchId, events);
    }),
  ],
  [
    'keeps the event of its caller',
    'appends/keeps-a-copy',
    appending((good, world) => (taskDir, dispatchId, events) => {
      good.appendEvents(taskDir, dispatchId, events);
      const dispatch = world.data.dispatches.get(taskDir)?.get(dispatchId);
      if (dispatch !== undefined && events.length === 1)
        dispatch.events = [...dispatch.events.slice(0, -1), ...events];
    }),
  ],
  [
    'keeps the list of its caller until the next turn',
    'appends/keeps-a-copy',
    appending((good) => async (taskDir, dispatchId, events) => {
      const given = [...events];
      good.appendEvents(taskDir, dispatchId, given.slice(0, 0));
      setImmediate(() => {
        try {
          good.appendEvents(taskDir, dispatchId, given);
        } catch {
          /* closed meanwhile */
        }
      });
    }),
  ],
  [
    'lets two batches interleave',
    'appends/batches-at-once',
    appending((good) => async (taskDir, dispatchId, events) => {
      for (const event of events) {
        await later();
        good.appendEvent(taskDir, dispatchId, event);
      }
      good.appendEvents(taskDir, dispatchId, []);
    }),
  ],
  [
    'shows a batch while it is written',
    'appends/seen-whole',
    appending((good) => async (taskDir, dispatchId, events) => {
      const half = Math.ceil(events.length / 2);
      good.appendEvents(taskDir, dispatchId, events.slice(0, half));
      await later();
      good.appendEvents(taskDir, dispatchId, events.slice(half));
    }),
  ],
  [
    'undoes a refused batch by cutting the log',
    'appends/refused-beside-accepted',
    appending((good, world) => async (taskDir, dispatchId, events) => {
      const dispatch = world.data.dispatches.get(taskDir)?.get(dispatchId);
      const before = dispatch?.events.length ?? 0;
      await later();
      try {
        good.appendEvents(taskDir, dispatchId, events);
      } catch (error) {
        if (dispatch !== undefined) dispatch.events = dispatch.events.slice(0, before);
        throw error;
      }
    }),
  ],
  [
    'writes over an append that is under way',
    'appends/calls-under-way',
    appending((good, world) => async (taskDir, dispatchId, events) => {
      const before = good.getDispatchEvents(taskDir, dispatchId);
      await later();
      good.appendEvents(taskDir, dispatchId, events);
      const dispatch = world.data.dispatches.get(taskDir)?.get(dispatchId);
      if (dispatch !== undefined) dispatch.events = [...before, ...structuredClone(events)];
    }),
  ],
  [
    'writes the envelope of before an append',
    'appends/update-beside',
    (good, world) => ({
      appendEvent: async (taskDir, dispatchId, event) => {
        const before = good.getDispatchEnvelope(taskDir, dispatchId);
        await later();
        good.appendEvent(taskDir, dispatchId, event);
        const dispatch = world.data.dispatches.get(taskDir)?.get(dispatchId);
        if (dispatch !== undefined && before !== null) dispatch.envelope = before;
      },
    }),
  ],
];
