import type { ReadEventsOptions } from '@hansard/provider';
import { storeErrors } from '@hansard/provider';
import type { ReferenceStore } from '../reference/reference-store.ts';
import type { Change, Mutant } from './mutant.ts';

type Page = ReturnType<ReferenceStore['readEvents']>;

/** A store whose pages are changed. */
const paging =
  (change: (page: Page, options: ReadEventsOptions, all: () => Page) => Page): Change =>
  (good) => ({
    readEvents: (taskDir, dispatchId, options = {}) =>
      change(good.readEvents(taskDir, dispatchId, options), options, () =>
        good.readEvents(taskDir, dispatchId, { limit: Number.MAX_SAFE_INTEGER }),
      ),
  });

const asking =
  (change: (options: ReadEventsOptions) => ReadEventsOptions): Change =>
  (good) => ({
    readEvents: (taskDir, dispatchId, options = {}) => good.readEvents(taskDir, dispatchId, change(options)),
  });

/** A store that answers a method from a cache, so that callers share its answers. */
const sharing =
  (
    name:
      | 'getDispatchEnvelope'
      | 'getDispatchEvents'
      | 'getRecentEvents'
      | 'findTask'
      | 'listTasks'
      | 'readEvents'
      | 'getDispatchEnvelopes'
      | 'listDispatches'
      | 'searchEvents',
  ): Change =>
  (good) => {
    const answers = new Map<string, unknown>();
    const method = good[name] as (...args: readonly unknown[]) => unknown;
    return {
      [name]: (...args: readonly unknown[]) => {
        const key = JSON.stringify(args);
        if (!answers.has(key)) answers.set(key, method(...args));
        return answers.get(key);
      },
    };
  };

/** Stores that read too much, too little, or from the wrong place. */
export const readMutants: readonly Mutant[] = [
  ['shares its envelopes', 'reads/copies-get-dispatch-envelope', sharing('getDispatchEnvelope')],
  ['shares its events', 'reads/copies-get-dispatch-events', sharing('getDispatchEvents')],
  ['shares its recent events', 'reads/copies-get-recent-events', sharing('getRecentEvents')],
  ['shares its pages', 'reads/copies-read-events', sharing('readEvents')],
  ['shares its tasks', 'reads/copies-find-task', sharing('findTask')],
  ['shares its list of tasks', 'reads/copies-list-tasks', sharing('listTasks')],
  ['shares its envelopes in a list', 'reads/copies-get-dispatch-envelopes', sharing('getDispatchEnvelopes')],
  ['shares its listings', 'reads/copies-list-dispatches', sharing('listDispatches')],
  ['shares its hits', 'reads/copies-search-events', sharing('searchEvents')],
  [
    'shares events between its reads',
    'reads/copies-are-apart',
    (good) => {
      const kept = new Map<string, object>();
      return {
        getRecentEvents: (taskDir, dispatchId, count) =>
          good
            .getRecentEvents(taskDir, dispatchId, count)
            .map((event) => (kept.get(event.id) as typeof event) ?? event),
        getDispatchEvents: (taskDir, dispatchId) => {
          const events = good.getDispatchEvents(taskDir, dispatchId);
          for (const event of events) kept.set(event.id, event);
          return events;
        },
      };
    },
  ],
  [
    'returns all events for the last 0',
    'reads/recent-none',
    (good) => ({
      getRecentEvents: (taskDir, dispatchId, count) =>
        count === 0
          ? good.getDispatchEvents(taskDir, dispatchId)
          : good.getRecentEvents(taskDir, dispatchId, count),
    }),
  ],
  [
    'returns the first events as the last',
    'reads/recent-oldest-first',
    (good) => ({
      getRecentEvents: (taskDir, dispatchId, count) =>
        good.getDispatchEvents(taskDir, dispatchId).slice(0, count),
    }),
  ],
  [
    'returns the newest event first',
    'reads/recent-oldest-first',
    (good) => ({
      getRecentEvents: (taskDir, dispatchId, count) =>
        good.getRecentEvents(taskDir, dispatchId, count).reverse(),
    }),
  ],
  [
    'refuses more of the last events than exist',
    'reads/recent-more-than-there-are',
    (good) => ({
      getRecentEvents: (taskDir, dispatchId, count) => {
        if (count > 999_999) throw storeErrors.error('STORE_UNAVAILABLE', 'Too many.');
        return good.getRecentEvents(taskDir, dispatchId, count);
      },
    }),
  ],
  [
    'finds the last events in the last 64 KB',
    'reads/recent-of-any-size',
    (good) => ({
      getRecentEvents: (taskDir, dispatchId, count) => {
        let bytes = 0;
        return good
          .getRecentEvents(taskDir, dispatchId, count)
          .toReversed()
          .filter((event) => {
            bytes += JSON.stringify(event).length;
            return bytes < 65_536;
          })
          .reverse();
      },
    }),
  ],
  [
    'returns 1,000 of the last events',
    'pages/large-limit',
    (good) => ({
      getRecentEvents: (taskDir, dispatchId, count) =>
        good.getRecentEvents(taskDir, dispatchId, Math.min(count, 1_000)),
    }),
  ],
  [
    'returns a page of any size',
    'pages/large-events',
    (good) => ({
      readEvents: (taskDir, dispatchId, options = {}) => {
        const { after = -1, limit = 1_000 } = options;
        const page = good.readEvents(taskDir, dispatchId, options);
        if (options.last !== undefined || page.events.length === 0) return page;
        const events = good.getDispatchEvents(taskDir, dispatchId).slice(after + 1, after + 1 + limit);
        return { events, first: after + 1, next: after + events.length };
      },
    }),
  ],
  [
    'loses the event with which a page would be too large',
    'pages/large-events',
    (good) => ({
      readEvents: (taskDir, dispatchId, options = {}) => {
        const page = good.readEvents(taskDir, dispatchId, options);
        const { after = -1, limit = 1_000, last } = options;
        const count = good.readEvents(taskDir, dispatchId, { last: 0 }).first;
        const isShort = last === undefined && page.events.length < Math.min(limit, count - after - 1);
        return isShort ? { ...page, next: page.next + 1 } : page;
      },
    }),
  ],
  [
    'returns 1,000 events of a page',
    'pages/large-limit',
    asking((options) =>
      options.last === undefined ? { ...options, limit: Math.min(options.limit ?? 1_000, 1_000) } : options,
    ),
  ],
  [
    'returns 2,000 of the last events as a page',
    'pages/large-limit',
    asking((options) => (options.last === undefined ? options : { last: Math.min(options.last, 2_000) })),
  ],
  [
    'returns 1,000 of all events',
    'appends/long-log',
    (good) => ({
      getDispatchEvents: (taskDir, dispatchId) => good.getDispatchEvents(taskDir, dispatchId).slice(0, 1_000),
    }),
  ],
  ['ignores the limit of a page', 'pages/first-and-next', asking(({ limit: _, ...options }) => options)],
  [
    'has pages of 100 events without a limit',
    'pages/default-limit',
    asking((options) => (options.last === undefined ? { limit: 100, ...options } : options)),
  ],
  [
    'has no limit without a limit',
    'pages/default-limit',
    asking((options) => (options.last === undefined ? { limit: 1_000_000, ...options } : options)),
  ],
  [
    'begins a page with its cursor',
    'pages/first-and-next',
    asking((options) => ({
      ...options,
      ...(options.after !== undefined && options.after > 0 && { after: options.after - 1 }),
    })),
  ],
  [
    'counts positions from 1',
    'pages/from-the-beginning',
    paging((page) => ({ ...page, first: page.first + 1 })),
  ],
  [
    'returns the next position as the cursor',
    'pages/walk',
    paging((page) => ({ ...page, next: page.next + 1 })),
  ],
  [
    'takes the cursor 0 for none',
    'pages/first-and-next',
    asking((options) => (options.after === 0 ? { ...options, after: -1 } : options)),
  ],
  [
    'takes the cursor -1 for the end',
    'pages/from-the-beginning',
    (good) => ({
      readEvents: (taskDir, dispatchId, options = {}) =>
        good.readEvents(taskDir, dispatchId, options.after === -1 ? { last: 0 } : options),
    }),
  ],
  [
    'returns the cursor -1 after the last event',
    'pages/at-the-end',
    paging((page, { last }) =>
      page.events.length === 0 && last === undefined ? { ...page, next: -1 } : page,
    ),
  ],
  [
    'returns an empty page for a cursor after the end',
    'pages/beyond-the-end',
    (good) => ({
      readEvents: (taskDir, dispatchId, options = {}) => {
        const end = good.readEvents(taskDir, dispatchId, { last: 0 }).first - 1;
        return (options.after ?? -1) > end
          ? { events: [], first: end + 1, next: end }
          : good.readEvents(taskDir, dispatchId, options);
      },
    }),
  ],
  [
    'loses the event at the end of a chunk of 256',
    'pages/around-powers-of-two',
    paging((page, { limit }) =>
      limit === 2 && page.first === 255 ? { ...page, events: page.events.slice(1) } : page,
    ),
  ],
  [
    'doubles the event at the start of a chunk of 1,024',
    'pages/around-powers-of-two',
    paging((page) =>
      page.first === 1_024
        ? { ...page, events: page.events.slice(0, 1).concat(page.events.slice(0, 1)) }
        : page,
    ),
  ],
  [
    'reads pages from the log of its first read',
    'pages/while-it-grows',
    (good) => {
      let end: number | null = null;
      return {
        readEvents: (taskDir, dispatchId, options = {}) => {
          end ??= good.readEvents(taskDir, dispatchId, { last: 0 }).first;
          const page = good.readEvents(taskDir, dispatchId, options);
          const events = page.events.slice(0, Math.max(0, end - page.first));
          return { events, first: page.first, next: page.first + events.length - 1 };
        },
      };
    },
  ],
  [
    'has no position of an empty page',
    'last/none',
    paging((page, { last }) => (last === 0 ? { ...page, first: 0 } : page)),
  ],
  [
    'counts the last events from 0',
    'last/tail',
    paging((page, { last }) => (last ? { ...page, first: 0, next: page.events.length - 1 } : page)),
  ],
  [
    'returns the cursor -1 with the last 0 events',
    'last/next-reads-on',
    paging((page, { last }) => (last === 0 ? { ...page, next: -1 } : page)),
  ],
  [
    'begins before the first event',
    'last/more-than-there-are',
    paging((page, { last = 0 }, all) =>
      last > page.events.length ? { ...page, first: all().events.length - last } : page,
    ),
  ],
  [
    'finds the last 512 events in its index only',
    'last/long-dispatch',
    paging((page, { last = 0 }) =>
      last > 512 && page.events.length > 512 ? { ...page, events: page.events.slice(0, 512) } : page,
    ),
  ],
  [
    'finds the last events in the last 64 KB of a page',
    'last/of-any-size',
    paging((page, { last }) =>
      last !== undefined && JSON.stringify(page.events).length > 131_072
        ? { ...page, events: page.events.slice(1) }
        : page,
    ),
  ],
];
