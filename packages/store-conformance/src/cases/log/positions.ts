import type { CapturedEvent, DispatchStoreProvider } from '@hansard/provider';
import { errorsOf, refuses, sameContent } from '../../checks/expectations.ts';
import { beginDispatch, dispatchId, prepared, reopenClaimed, taskDir } from '../../checks/prepared-store.ts';
import { sampleEvent, sampleEvents } from '../../checks/sample-data.ts';
import { caseFamily } from '../../run/conformance-case.ts';

/** Fails unless an append of these events answers with these positions. */
async function takes(
  store: DispatchStoreProvider,
  events: readonly CapturedEvent[],
  positions: readonly number[],
): Promise<void> {
  const answer = await store.appendEvents(taskDir, dispatchId, structuredClone([...events]));
  sameContent(answer, positions, `appendEvents(${events.map(({ id }) => id).slice(0, 8)})`);
}

async function takesOne(store: DispatchStoreProvider, event: CapturedEvent, position: number): Promise<void> {
  const answer = await store.appendEvent(taskDir, dispatchId, structuredClone(event));
  sameContent(answer, position, `appendEvent(${event.id})`);
}

/** Ids that do not grow, as an import has them. */
const mixed = (count: number, name: string) =>
  sampleEvents(count).map((event, index) => ({ ...event, id: `${name}-${(index * 7_919) % 10_007}` }));

/** The positions that appends return. */
export const positionCases = caseFamily('appends', [
  {
    name: 'positions',
    rule: 4,
    title: 'an append returns the position of each event, and a batch in the order of its events',
    run: async ({ store }) => {
      await beginDispatch(store);
      const events = ['c', 'a', 'B', 'b', '10', '9', '2', 'zz'].map((id) => sampleEvent(id));
      const [first, second, third, ...rest] = events as [CapturedEvent, CapturedEvent, CapturedEvent];
      await takesOne(store, first, 0);
      await takesOne(store, second, 1);
      await takesOne(store, third, 2);
      await takes(store, rest, [3, 4, 5, 6, 7]);
      await takes(store, [], []);
      await takes(store, [sampleEvent('zzz')], [8]);
      await takesOne(store, sampleEvent('zzzz'), 9);
    },
  },
  {
    name: 'positions-at-once',
    rule: 4,
    title: 'appends that do not wait for each other return the positions at which the log has their events',
    run: async ({ store }) => {
      await beginDispatch(store, prepared.events);
      const batches = ['d', 'b', 'c', 'a'].map((name) => sampleEvents(20, name));
      const answers = new Map<string, number | undefined>();
      const note = (events: readonly CapturedEvent[], positions: readonly number[]) => {
        for (const [index, { id }] of events.entries()) answers.set(id, positions[index]);
      };
      const errors = await errorsOf(
        batches.flatMap((batch) => {
          const [single, ...others] = batch as [CapturedEvent];
          return [
            async () => note(others, await store.appendEvents(taskDir, dispatchId, others)),
            async () => note([single], [await store.appendEvent(taskDir, dispatchId, single)]),
          ];
        }),
      );
      sameContent(errors.map(String), [], 'errors of the appends');
      const stored = await store.getDispatchEvents(taskDir, dispatchId);
      for (const [position, { id }] of stored.entries())
        if (position >= prepared.events.length)
          sameContent(answers.get(id), position, `the answer for ${id}`);
    },
  },
]);

/** The positions of events that are stored already. */
export const repeatedPositionCases = caseFamily('idempotence', [
  {
    name: 'positions',
    rule: 3,
    title: 'an event that is stored already is answered with the position that it has',
    run: async ({ store }) => {
      await beginDispatch(store, prepared.events);
      const [zero, one, two] = prepared.events as [CapturedEvent, CapturedEvent, CapturedEvent];
      for (const [position, event] of prepared.events.entries()) await takesOne(store, event, position);
      await takes(store, prepared.events, [0, 1, 2]);
      await takes(store, [two, zero, one, zero], [2, 0, 1, 0]);
      const [n, m] = [sampleEvent('n'), sampleEvent('m')];
      await takes(store, [one, n, zero, m, n, m, two], [1, 3, 0, 4, 3, 4, 2]);
      const conflict = [sampleEvent('new'), sampleEvent('event-1', 'other content')];
      await refuses('STORE_EVENT_CONFLICT', 'appendEvents', () =>
        store.appendEvents(taskDir, dispatchId, conflict),
      );
      await takes(store, [sampleEvent('new'), m], [5, 4]);
      await takesOne(store, n, 3);
      await takesOne(store, sampleEvent('newer'), 6);
    },
  },
  {
    name: 'positions-in-a-long-log',
    rule: 3,
    title: 'any event of a log of 2,400 is answered with its position, in any order',
    run: async ({ store }) => {
      const events = mixed(2_400, 'id');
      await beginDispatch(store, events.slice(0, 1_800));
      await takes(store, events.slice(1_700), [...events.keys()].slice(1_700));
      await takes(store, events.toReversed(), [...events.keys()].toReversed());
      await takes(store, events, [...events.keys()]);
      for (const position of [2_399, 0, 1_799, 1_800, 1, 2, 3, 1_024])
        await takesOne(store, events[position] as CapturedEvent, position);
      await takesOne(store, sampleEvent('last'), 2_400);
    },
  },
  {
    name: 'positions-with-growing-ids',
    rule: 3,
    title: 'any event of a log whose ids grow is answered with its position',
    run: async ({ store }) => {
      const events = sampleEvents(700).map((event, index) => ({
        ...event,
        id: `grows-${String(index).padStart(4, '0')}`,
      }));
      await beginDispatch(store);
      for (const [position, event] of events.slice(0, 300).entries()) await takesOne(store, event, position);
      await takes(store, events.slice(250), [...events.keys()].slice(250));
      await takesOne(store, events[699] as CapturedEvent, 699);
      for (const position of [698, 0, 350, 1, 2])
        await takesOne(store, events[position] as CapturedEvent, position);
      await takes(store, [sampleEvent('grows-9999'), events[3] as CapturedEvent], [700, 3]);
    },
  },
]);

export const reopenedPositionCases = caseFamily('reopened', [
  {
    name: 'positions',
    rule: 3,
    title: 'positions count from the beginning of the log after the store was opened again',
    needs: ['durability'],
    run: async ({ store, reopen }) => {
      await beginDispatch(store, prepared.events);
      const again = await reopenClaimed({ reopen });
      await takesOne(again, sampleEvent('new'), 3);
      await takes(
        again,
        [...prepared.events.toReversed(), sampleEvent('a'), sampleEvent('new')],
        [2, 1, 0, 4, 3],
      );
      const third = await reopenClaimed({ reopen });
      const [, one] = prepared.events as [CapturedEvent, CapturedEvent];
      await takesOne(third, one, 1);
      await takes(third, [sampleEvent('a'), sampleEvent('z')], [4, 5]);
    },
  },
  {
    name: 'first-append-repeated',
    rule: 3,
    title: 'the first event that is appended after the store was opened again is known when it comes again',
    needs: ['durability'],
    run: async ({ store, reopen }) => {
      // Ids in no order, so that no store knows from the last id alone which ids it has.
      await beginDispatch(
        store,
        ['m', 'c', 'k'].map((id) => sampleEvent(id)),
      );
      for (const [opening, id] of ['z', 'b', 'zz', 'l', '0'].entries()) {
        const again = await reopenClaimed({ reopen });
        const position = 3 + opening;
        if (opening % 2 === 0) await takesOne(again, sampleEvent(id), position);
        else await takes(again, [sampleEvent(id)], [position]);
        await takesOne(again, sampleEvent(id), position);
        await takes(again, [sampleEvent(id), sampleEvent('c')], [position, 1]);
      }
    },
  },
]);
