import type { CapturedEvent } from '@hansard/provider';
import { sameContent } from '../../checks/expectations.ts';
import { beginDispatch, dispatchId, prepared, taskDir } from '../../checks/prepared-store.ts';
import { sampleEvent, sampleEvents } from '../../checks/sample-data.ts';
import { caseFamily } from '../../run/conformance-case.ts';

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
