import type { ReferenceStore } from '../reference/reference-store.ts';
import type { World } from '../reference/world.ts';
import { type Change, type Events, later, type Mutant } from './mutant.ts';

type Answer = (positions: readonly number[], events: Events, before: number, after: number) => unknown;

/** A store that stores everything, and answers an append with other positions. */
const answering =
  (answer: Answer): Change =>
  (good, world) => {
    const append = appendWith(good, world, answer);
    return {
      appendEvents: append,
      appendEvent: (taskDir, dispatchId, event) => {
        const answers = append(taskDir, dispatchId, [event]);
        return Array.isArray(answers) ? answers[0] : answers;
      },
    };
  };

function appendWith(good: ReferenceStore, world: World, answer: Answer) {
  return (taskDir: string, dispatchId: string, events: Events) => {
    const count = () => world.data.dispatches.get(taskDir)?.get(dispatchId)?.events.length ?? 0;
    const before = count();
    const positions = good.appendEvents(taskDir, dispatchId, events);
    return answer(positions, events, before, count());
  };
}

/** Stores whose appends return wrong positions. */
export const positionMutants: readonly Mutant[] = [
  ['answers an append with nothing', 'appends/positions', answering(() => null)],
  [
    'answers an append with the number of events',
    'appends/positions',
    answering((positions, _, __, after) => positions.map(() => after)),
  ],
  [
    'answers each event of a batch with the position of the first',
    'appends/positions',
    answering((positions) => positions.map(() => positions[0])),
  ],
  [
    'answers an empty batch with the last position',
    'appends/positions',
    answering((positions, _, before) => (positions.length === 0 ? [before - 1] : positions)),
  ],
  [
    'answers an event that is stored already with the end of the log',
    'idempotence/positions',
    answering((positions, _, before) => positions.map((position) => Math.max(position, before))),
  ],
  [
    'answers only for the events that it added',
    'idempotence/positions',
    answering((positions, _, before) => positions.filter((position) => position >= before)),
  ],
  [
    'counts an event that is twice in a batch twice',
    'idempotence/positions',
    answering((positions, events, before) => {
      const isNew = events.map((_, index) => (positions[index] as number) >= before);
      let next = before;
      return positions.map((position, index) => (isNew[index] ? next++ : position));
    }),
  ],
  [
    'answers with the places of the batch sorted',
    'idempotence/positions',
    answering((positions) => [...positions].sort((one, other) => one - other)),
  ],
  [
    'knows positions up to the 1,024th event',
    'idempotence/positions-in-a-long-log',
    answering((positions, _, before) =>
      positions.map((position) => (position < before && position >= 1_024 ? 1_024 : position)),
    ),
  ],
  [
    'guesses a position from the number in the id',
    'idempotence/positions-in-a-long-log',
    answering((positions, events, before) =>
      positions.map((position, index) =>
        position < before ? Number(events[index]?.id.replace(/\D/g, '')) : position,
      ),
    ),
  ],
  [
    'moves by one position with each repeated event',
    'idempotence/positions-with-growing-ids',
    (good, world) => {
      let last = -1;
      return answering((positions, _, before) =>
        positions.map((position) => {
          last = position >= before ? position : last + 1;
          return last;
        }),
      )(good, world);
    },
  ],
  [
    'answers with the position that was free when the call came',
    'appends/positions-at-once',
    (good, world) => {
      const append = appendWith(good, world, (positions) => positions);
      const appendEvents = async (taskDir: string, dispatchId: string, events: Events) => {
        const given = [...events];
        const free = world.data.dispatches.get(taskDir)?.get(dispatchId)?.events.length ?? 0;
        await later();
        append(taskDir, dispatchId, given);
        return given.map((_, index) => free + index);
      };
      return {
        appendEvents,
        appendEvent: async (taskDir, dispatchId, event) =>
          (await appendEvents(taskDir, dispatchId, [event]))[0],
      };
    },
  ],
  [
    'answers with positions counted from its opening',
    'reopened/positions',
    (good, world) => {
      const known = new Map<string, number>();
      for (const [taskDir, dispatches] of world.data.dispatches)
        for (const [dispatchId, { events }] of dispatches)
          known.set(`${taskDir} ${dispatchId}`, events.length);
      return {
        appendEvent: (taskDir, dispatchId, event) =>
          good.appendEvent(taskDir, dispatchId, event) - (known.get(`${taskDir} ${dispatchId}`) ?? 0),
      };
    },
  ],
  [
    'takes the first event of an opening as new when it comes again',
    'reopened/first-append-repeated',
    (good, world) => {
      let opened = false;
      let first: string | null = null;
      const isReopened = [...world.data.dispatches.values()].some(({ size }) => size > 0);
      return {
        appendEvent: (taskDir, dispatchId, event) => {
          const stored = world.data.dispatches.get(taskDir)?.get(dispatchId)?.events;
          if (isReopened && event.id === first && stored !== undefined) {
            first = null;
            stored.push(structuredClone(event));
            return stored.length - 1;
          }
          const isGreatest = stored?.every(({ id }) => id < event.id) ?? false;
          if (!opened && isGreatest) first = event.id;
          opened = true;
          return good.appendEvent(taskDir, dispatchId, event);
        },
      };
    },
  ],
];
