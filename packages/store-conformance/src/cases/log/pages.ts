import type { CapturedEvent, DispatchStoreProvider } from '@hansard/provider';
import { errorsOf, refuses, sameContent } from '../../checks/expectations.ts';
import { beginDispatch, dispatchId, prepared, reopenClaimed, taskDir } from '../../checks/prepared-store.ts';
import { sampleEvent, sampleEvents } from '../../checks/sample-data.ts';
import { caseFamily } from '../../run/conformance-case.ts';

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

export const pageCases = caseFamily('pages', [
  {
    name: 'first-and-next',
    rule: 5,
    title: 'a page has the position of its first event and the cursor of the next page',
    run: async ({ store }) => {
      const events = sampleEvents(10);
      await beginDispatch(store, events);
      for (let after = -1; after < events.length; after += 1) {
        const page = await store.readEvents(taskDir, dispatchId, { after, limit: 3 });
        const expected = events.slice(after + 1, after + 4);
        sameContent(
          page,
          { events: expected, first: after + 1, next: after + expected.length },
          `readEvents({ after: ${after}, limit: 3 })`,
        );
      }
    },
  },
  {
    name: 'from-the-beginning',
    rule: 5,
    title: 'without a cursor, or with -1, reading starts at the first event',
    run: async ({ store }) => {
      await beginDispatch(store, prepared.events);
      const whole = { events: prepared.events, first: 0, next: 2 };
      for (const options of [undefined, {}, { after: -1 }])
        sameContent(
          await store.readEvents(taskDir, dispatchId, options),
          whole,
          `readEvents(${JSON.stringify(options) ?? ''})`,
        );
    },
  },
  {
    name: 'walk',
    rule: 5,
    title: 'following next returns every event once, in order, with any limit',
    run: async ({ store }) => {
      const events = sampleEvents(24);
      await beginDispatch(store, events);
      for (const limit of [1, 2, 5, 8, 12, 23, 24, 25, 1_000_000]) {
        const walked: CapturedEvent[] = [];
        let after = -1;
        for (let pages = 0; pages <= events.length; pages += 1) {
          const page = await store.readEvents(taskDir, dispatchId, { after, limit });
          walked.push(...page.events);
          after = page.next;
          if (page.events.length === 0) break;
        }
        sameContent(walked, events, `all pages of up to ${limit}`);
        sameContent(after, 23, `the last cursor with pages of up to ${limit}`);
      }
    },
  },
  {
    name: 'default-limit',
    rule: 5,
    title: 'a page without a limit has 1,000 events',
    run: async ({ store }) => {
      const events = sampleEvents(2_100);
      await beginDispatch(store, events);
      for (const [after, count] of [
        [-1, 1_000],
        [999, 1_000],
        [1_099, 1_000],
        [1_999, 100],
      ] as const)
        sameContent(
          await store.readEvents(taskDir, dispatchId, { after }),
          { events: events.slice(after + 1, after + 1 + count), first: after + 1, next: after + count },
          `readEvents({ after: ${after} })`,
        );
    },
  },
  {
    name: 'large-events',
    rule: 5,
    title: 'a page ends after 8 MiB, has at least one event, and following next returns every event once',
    run: async ({ store }) => {
      const mebibytes = [3, 3, 3, 9, 1, 1, 7, 1];
      const events = mebibytes.map((size, index) => ({
        ...sampleEvent(`large-${index}`),
        data: { text: String(index).repeat(size * 1024 * 1024 - 1_024) },
      }));
      for (const [index, event] of events.entries())
        await (index === 0
          ? beginDispatch(store, [event])
          : store.appendEvents(taskDir, dispatchId, [event]));
      const counts: number[] = [];
      const walked: CapturedEvent[] = [];
      for (let after = -1; ; ) {
        const page = await store.readEvents(taskDir, dispatchId, { after });
        if (page.events.length === 0) break;
        counts.push(page.events.length);
        walked.push(...page.events);
        after = page.next;
      }
      sameContent(walked, events, 'all pages');
      sameContent(counts, [2, 1, 1, 2, 2], 'the events of each page');
      const last = await store.readEvents(taskDir, dispatchId, { last: 5 });
      sameContent(last.events, events.slice(3), 'the last events, whatever their size');
      sameContent(await store.getDispatchEvents(taskDir, dispatchId), events, 'all events');
    },
  },
  {
    name: 'at-the-end',
    rule: 5,
    title: 'after the last event the page is empty, and its cursor stays valid for later events',
    run: async ({ store }) => {
      await beginDispatch(store);
      sameContent(
        await store.readEvents(taskDir, dispatchId),
        { events: [], first: 0, next: -1 },
        'readEvents of an empty dispatch',
      );
      await store.appendEvents(taskDir, dispatchId, prepared.events);
      const end = await store.readEvents(taskDir, dispatchId, { after: 2 });
      sameContent(end, { events: [], first: 3, next: 2 }, 'readEvents after the last event');
      const late = sampleEvent('late');
      await store.appendEvent(taskDir, dispatchId, late);
      sameContent(
        await store.readEvents(taskDir, dispatchId, { after: end.next }),
        { events: [late], first: 3, next: 3 },
        'readEvents after a late event',
      );
    },
  },
  {
    name: 'beyond-the-end',
    rule: 5,
    title: 'a cursor after the last event is STORE_INVALID_CURSOR',
    run: async ({ store }) => {
      await beginDispatch(store);
      const read = (after: number) => () => store.readEvents(taskDir, dispatchId, { after });
      await refuses('STORE_INVALID_CURSOR', 'after 0 in an empty dispatch', read(0));
      await store.appendEvents(taskDir, dispatchId, prepared.events);
      for (const after of [3, 4, 1_000_000, Number.MAX_SAFE_INTEGER])
        await refuses('STORE_INVALID_CURSOR', `after ${after} of 3 events`, read(after));
    },
  },
]);

export const longReadCases = caseFamily('pages', [
  {
    name: 'around-powers-of-two',
    rule: 5,
    title: 'pages begin and end correctly around positions at which stores divide a log',
    run: async ({ store }) => {
      const events = sampleEvents(4_200);
      await beginDispatch(store, events);
      for (const border of [64, 100, 128, 256, 500, 512, 1_000, 1_024, 2_048, 4_096])
        for (const after of [border - 3, border - 2, border - 1, border])
          sameContent(
            await store.readEvents(taskDir, dispatchId, { after, limit: 2 }),
            { events: events.slice(after + 1, after + 3), first: after + 1, next: after + 2 },
            `readEvents({ after: ${after}, limit: 2 })`,
          );
    },
  },
  {
    name: 'large-limit',
    rule: 5,
    title: 'a page has as many events as its limit allows, including more than 1,000',
    run: async ({ store }) => {
      const events = sampleEvents(2_500);
      await beginDispatch(store, events);
      for (const limit of [1_001, 2_000, 2_500, Number.MAX_SAFE_INTEGER])
        sameContent(
          await store.readEvents(taskDir, dispatchId, { limit }),
          { events: events.slice(0, limit), first: 0, next: Math.min(limit, 2_500) - 1 },
          `readEvents({ limit: ${limit} })`,
        );
      sameContent(
        await store.getRecentEvents(taskDir, dispatchId, 1_500),
        events.slice(-1_500),
        'getRecentEvents(1500)',
      );
      sameContent(
        await store.readEvents(taskDir, dispatchId, { last: 2_400 }),
        { events: events.slice(-2_400), first: 100, next: 2_499 },
        'readEvents({ last: 2400 })',
      );
    },
  },
  {
    name: 'while-it-grows',
    rule: 5,
    title: 'following next while events are appended returns every event once',
    run: async ({ store }) => {
      await beginDispatch(store, prepared.events);
      const expected: CapturedEvent[] = [...prepared.events];
      const walked: CapturedEvent[] = [];
      let after = -1;
      for (let turn = 0; turn < 30; turn += 1) {
        const page = await store.readEvents(taskDir, dispatchId, { after, limit: 2 });
        walked.push(...page.events);
        after = page.next;
        const event = sampleEvent(`turn-${turn}`);
        if (turn < 15) {
          await store.appendEvent(taskDir, dispatchId, event);
          expected.push(event);
        }
      }
      sameContent(walked, expected, 'all pages');
    },
  },
]);

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
