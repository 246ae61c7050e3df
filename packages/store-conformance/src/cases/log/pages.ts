import type { CapturedEvent } from '@hansard/provider';
import { refuses, sameContent } from '../../checks/expectations.ts';
import { beginDispatch, dispatchId, prepared, taskDir } from '../../checks/prepared-store.ts';
import { sampleEvent, sampleEvents } from '../../checks/sample-data.ts';
import { caseFamily } from '../../run/conformance-case.ts';

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
