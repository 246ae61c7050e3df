import {
  type DispatchListing,
  type DispatchPage,
  type ListDispatchesOptions,
  storeErrors,
} from '@hansard/provider';
import type { Change, Mutant } from './mutant.ts';

const asking =
  (change: (options: ListDispatchesOptions) => ListDispatchesOptions): Change =>
  (good) => ({ listDispatches: (options = {}) => good.listDispatches(change(options)) });

const listing =
  (change: (page: DispatchPage, options: ListDispatchesOptions) => DispatchPage): Change =>
  (good) => ({ listDispatches: (options = {}) => change(good.listDispatches(options), options) });

const each = (change: (entry: DispatchListing) => DispatchListing): Change =>
  listing((page) => ({ ...page, dispatches: page.dispatches.map(change) }));

/** A store whose cursor is the number of dispatches so far. */
const numbered =
  (offsetOf: (after: string) => number): Change =>
  (good) => ({
    listDispatches: ({ after, limit = 1_000, ...options } = {}) => {
      const { dispatches } = good.listDispatches({ ...options, limit: 100_000 });
      if (after !== undefined && !/^n\d+$/.test(after)) good.listDispatches({ after });
      const first = after === undefined ? 0 : offsetOf(after);
      const page = dispatches.slice(first, first + limit);
      return { dispatches: page, next: first + limit < dispatches.length ? `n${first + limit}` : null };
    },
  });

/** Stores whose listings are wrong. */
export const listedMutants: readonly Mutant[] = [
  [
    'fails to list because of one envelope of a newer version',
    'newer/listed',
    listing((page) => {
      for (const { error } of page.dispatches) if (error !== undefined) throw error;
      return page;
    }),
  ],
  [
    'leaves out a dispatch of a newer version',
    'newer/listed',
    listing((page) => ({
      ...page,
      dispatches: page.dispatches.filter(({ error }) => error === undefined),
    })),
  ],
  [
    'lists what a newer version wrote as damage',
    'newer/listed',
    each((entry) =>
      entry.error === undefined
        ? entry
        : { ...entry, error: storeErrors.error('STORE_CORRUPT', 'It is damaged.') },
    ),
  ],
  [
    'gives an envelope of a newer version as it is',
    'newer/listed',
    (good, { data }) => ({
      listDispatches: (options = {}) => {
        const page = good.listDispatches(options);
        const raw = ({ taskDir, dispatchId }: DispatchListing) =>
          data.dispatches.get(taskDir)?.get(String(dispatchId))?.envelope ?? null;
        return { ...page, dispatches: page.dispatches.map((one) => ({ ...one, envelope: raw(one) })) };
      },
    }),
  ],
  [
    'claims what a newer version wrote',
    'newer/refused',
    (good, { data }) => ({
      claimDispatch: (taskDir, dispatchId) => {
        const envelope = data.dispatches.get(taskDir)?.get(dispatchId)?.envelope;
        if (envelope?.dispatchId.startsWith('LATER')) return { envelope, epoch: 1 };
        return good.claimDispatch(taskDir, dispatchId);
      },
    }),
  ],
  [
    'rewrites what a newer version wrote',
    'newer/refused',
    (good) => ({
      rewriteDispatch: (taskDir, dispatchId, rewrite) =>
        dispatchId.startsWith('LATER') ? { remains: [] } : good.rewriteDispatch(taskDir, dispatchId, rewrite),
    }),
  ],
  [
    'says that it deleted what a newer version wrote, and keeps it',
    'newer/deleted',
    (good) => ({
      deleteDispatch: (taskDir, dispatchId) => {
        if (!dispatchId.startsWith('LATER')) good.deleteDispatch(taskDir, dispatchId);
      },
    }),
  ],
  [
    'fails to list tasks because of one record of a newer version',
    'newer/tasks',
    (good) => ({
      listTasks: () => {
        const listed = good.listTasks();
        for (const { error } of listed) if (error !== undefined) throw error;
        return listed;
      },
    }),
  ],
  [
    'gives the record of a newer version as it is',
    'newer/tasks',
    (good, { data }) => ({ findTask: (taskDir) => data.tasks.get(taskDir) ?? good.findTask(taskDir) }),
  ],
  [
    'replaces the record of a newer version',
    'newer/tasks-kept',
    (good, { data }) => ({
      putTask: (taskDir, task) => {
        data.tasks.delete(taskDir);
        good.putTask(taskDir, task);
      },
    }),
  ],
  ['counts dispatches as its cursor', 'listed/beside-new-ones', numbered((after) => Number(after.slice(1)))],
  [
    'counts dispatches as its cursor, while some are deleted',
    'listed/beside-deletions',
    numbered((after) => Number(after.slice(1))),
  ],
  [
    'begins again after a dispatch that was deleted',
    'listed/beside-deletions',
    (good) => ({
      listDispatches: (options = {}) => {
        const { after = '', ...others } = options;
        const [, task = '', id = ''] = after.split(' ');
        const taskDir = Buffer.from(task, 'hex').toString();
        const isGone = after !== '' && id !== '' && good.getDispatchEnvelope(taskDir, id) === null;
        return good.listDispatches(isGone ? others : options);
      },
    }),
  ],
  [
    'lists the letters of the whole store',
    'listed/internal-tasks',
    (good, { data }) => ({
      listDispatches: (options = {}) => {
        const page = good.listDispatches(options);
        if (options.taskDir !== undefined) return page;
        const inboxes = [...data.dispatches.keys()].filter((taskDir) => taskDir.startsWith('_hansard/'));
        const letters = inboxes.flatMap((taskDir) => good.listDispatches({ taskDir }).dispatches);
        return { ...page, dispatches: [...letters, ...page.dispatches] };
      },
    }),
  ],
  [
    'hides what is near _hansard',
    'listed/internal-tasks',
    listing((page) => ({
      ...page,
      dispatches: page.dispatches.filter((one) => !one.taskDir.includes('_hansard')),
    })),
  ],
  [
    'lists the tasks below _hansard',
    'listed/internal-tasks',
    (_, { data }) => ({
      listTasks: () => [...data.dispatches.keys()].sort().map((taskDir) => ({ taskDir, task: null })),
    }),
  ],
  [
    'lists what is below _hansard with the others when it is asked for that',
    'listed/internal-tasks',
    (good) => ({
      listDispatches: (options = {}) => {
        const page = good.listDispatches(options);
        const { internal, ...others } = options;
        if (internal !== true) return page;
        return { ...page, dispatches: [...page.dispatches, ...good.listDispatches(others).dispatches] };
      },
    }),
  ],
  [
    'knows no listing of what is below _hansard',
    'listed/internal-tasks',
    asking(({ internal: _, ...options }) => options),
  ],
  ['ignores the order', 'listed/pages', asking(({ order: _, ...options }) => options)],
  ['ignores the task', 'listed/pages', asking(({ taskDir: _, ...options }) => options)],
  ['ignores the limit of a listing', 'listed/pages', asking(({ limit: _, ...options }) => options)],
  [
    'has another page after the last one',
    'listed/pages',
    listing((page) => ({ ...page, next: page.next ?? (page.dispatches.length > 0 ? '9999- 00 x' : null) })),
  ],
  [
    'repeats the last dispatch of a page',
    'listed/pages',
    (good) => {
      let last: DispatchListing | undefined;
      return {
        listDispatches: (options = {}) => {
          const page = good.listDispatches(options);
          const dispatches = [...(last === undefined || !options.after ? [] : [last]), ...page.dispatches];
          last = page.dispatches.at(-1);
          return { ...page, dispatches: dispatches.slice(0, options.limit ?? 1_000) };
        },
      };
    },
  ],
  [
    'orders tasks by UTF-16',
    'listed/pages',
    listing((page, { limit, order }) =>
      limit === undefined && order === undefined
        ? {
            ...page,
            dispatches: page.dispatches.toSorted((one, other) => (textOf(one) < textOf(other) ? -1 : 1)),
          }
        : page,
    ),
  ],
  [
    'lists the dispatches of inner tasks in pages',
    'listed/pages',
    (good) => ({
      listDispatches: ({ taskDir, limit = 1_000, ...options } = {}) => {
        if (taskDir === undefined) return good.listDispatches({ ...options, limit });
        const { dispatches } = good.listDispatches({ ...options, limit: 100_000 });
        const found = dispatches.filter((one) => `${one.taskDir}/`.startsWith(`${taskDir}/`));
        return { dispatches: found.slice(0, limit), next: null };
      },
    }),
  ],
  ['ignores the status', 'listed/filters', asking(({ status: _, ...options }) => options)],
  [
    'takes no status for any',
    'listed/filters',
    asking(({ status, ...options }) => (status?.length ? { ...options, status } : options)),
  ],
  ['ignores the earliest start', 'listed/filters', asking(({ startedSince: _, ...options }) => options)],
  [
    'omits dispatches of the earliest start itself',
    'listed/filters',
    listing((page, { startedSince }) => ({
      ...page,
      dispatches: page.dispatches.filter(({ envelope }) => envelope?.startedAt !== startedSince),
    })),
  ],
  [
    'filters a page after it was cut',
    'listed/filters',
    (good) => ({
      listDispatches: ({ status, ...options } = {}) => {
        const page = good.listDispatches(options);
        const fits = ({ envelope }: DispatchListing) =>
          status === undefined || envelope === null || status.includes(envelope.status);
        return { ...page, dispatches: page.dispatches.filter(fits) };
      },
    }),
  ],
  [
    'has the start as the last activity',
    'listed/last-active',
    each((entry) => ({ ...entry, lastActiveAt: entry.envelope?.startedAt ?? null })),
  ],
  [
    'has the latest time as the last activity',
    'listed/last-active',
    (good) => ({
      listDispatches: (options) => {
        const page = good.listDispatches(options);
        const dispatches = page.dispatches.map((entry) => {
          const times = good
            .getDispatchEvents(entry.taskDir, String(entry.dispatchId))
            .map(({ timestamp }) => timestamp);
          return { ...entry, lastActiveAt: times.sort().at(-1) ?? entry.lastActiveAt };
        });
        return { ...page, dispatches };
      },
    }),
  ],
  [
    'has no activity without events',
    'listed/last-active',
    each((entry) => ({
      ...entry,
      lastActiveAt: entry.lastActiveAt === entry.envelope?.startedAt ? null : entry.lastActiveAt,
    })),
  ],
  [
    'has the end as the last activity',
    'listed/last-active',
    each((entry) =>
      entry.envelope?.status === 'completed' ? { ...entry, lastActiveAt: entry.envelope.startedAt } : entry,
    ),
  ],
  [
    'lists dispatches without a start among those from a time on',
    'listed/time-not-recorded',
    (good) => ({
      listDispatches: (options = {}) => {
        const { startedSince, ...others } = options;
        const all = good.listDispatches({ ...others, limit: 100_000 }).dispatches;
        const isUntimed = ({ envelope }: DispatchListing) => envelope !== null && envelope.startedAt === null;
        if (startedSince === undefined || !all.some(isUntimed)) return good.listDispatches(options);
        return { dispatches: all.filter((one) => isUntimed(one) || one.envelope !== null), next: null };
      },
    }),
  ],
  [
    'has the start as the last activity after an event without a time',
    'listed/time-not-recorded',
    each((entry) => ({ ...entry, lastActiveAt: entry.lastActiveAt ?? entry.envelope?.startedAt ?? null })),
  ],
  [
    'takes a cursor that it cannot read for none',
    'listed/invalid-cursor',
    asking(({ after, ...options }) =>
      after !== undefined && /^\d{4}-/.test(after) ? { ...options, after } : options,
    ),
  ],
  [
    'lists 100 dispatches without a limit',
    'listed/many-across-tasks',
    asking((options) => ({ limit: 100, ...options })),
  ],
  [
    'lists every dispatch without a limit',
    'listed/many-across-tasks',
    asking((options) => ({ limit: 100_000, ...options })),
  ],
  [
    'lists 1,000 dispatches at most',
    'listed/many-across-tasks',
    asking((options) => ({ ...options, limit: Math.min(options.limit ?? 1_000, 1_000) })),
  ],
  [
    'searches one task only',
    'search/across-tasks',
    (good) => ({
      searchEvents: (query, options = {}) =>
        good.searchEvents(query, { taskDir: good.listTasks()[0]?.taskDir ?? 'none', ...options }),
    }),
  ],
  [
    'orders the hits of several tasks by task',
    'search/across-tasks',
    (good) => ({
      searchEvents: (...args) =>
        good.searchEvents(...args).toSorted((one, other) => (one.taskDir < other.taskDir ? -1 : 1)),
    }),
  ],
  [
    'does not watch tasks that do not exist',
    'watch/task',
    (good) => ({
      watch: (scope, onChange) =>
        scope.dispatchId === undefined && good.listTasks().length === 0
          ? () => {}
          : good.watch(scope, onChange),
    }),
  ],
  [
    'watches the dispatches that exist when a listener begins',
    'watch/store',
    (good) => ({
      watch: (scope, onChange) => {
        const stops = (scope.dispatchId === undefined ? good.listDispatches().dispatches : []).map(
          ({ taskDir, dispatchId }) => good.watch({ taskDir, dispatchId: String(dispatchId) }, onChange),
        );
        return () => {
          for (const stop of stops) stop();
        };
      },
    }),
  ],
  [
    'does not report records of tasks',
    'watch/task',
    (good) => {
      let isQuiet = false;
      return {
        putTask: (taskDir, task) => {
          isQuiet = true;
          good.putTask(taskDir, task);
          queueMicrotask(() => {
            isQuiet = false;
          });
        },
        watch: (scope, onChange) => good.watch(scope, () => isQuiet || onChange()),
      };
    },
  ],
];

const textOf = ({ taskDir, dispatchId, envelope }: DispatchListing) =>
  `${envelope?.startedAt} ${taskDir} ${dispatchId}`;
