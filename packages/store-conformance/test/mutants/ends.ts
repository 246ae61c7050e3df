import { later, type Mutant } from './mutant.ts';

/** Stores with wrong refusals of names, a wrong end, and wrong searches and listeners. */
export const endMutants: readonly Mutant[] = [
  [
    'refuses paths by two dots only',
    'paths/put-task',
    (good) => ({
      putTask: (taskDir, task) => {
        if (taskDir.includes('..')) good.putTask(taskDir, task);
      },
    }),
  ],
  [
    'returns null for a path above its root',
    'paths/find-task',
    (good) => ({ findTask: (taskDir) => (taskDir.startsWith('../') ? null : good.findTask(taskDir)) }),
  ],
  [
    'does not check the id of a release',
    'paths/release-dispatch',
    (good) => ({
      releaseDispatch: (taskDir, dispatchId) => {
        if (good.getDispatchEnvelopes(taskDir).some((one) => one.dispatchId === dispatchId))
          good.releaseDispatch(taskDir, dispatchId);
      },
    }),
  ],
  ['works after it was closed', 'closed/append-event', () => ({ close: () => {} })],
  [
    'returns tasks after it was closed',
    'closed/list-tasks',
    (good) => {
      let closed = false;
      return {
        close: () => {
          good.close();
          closed = true;
        },
        listTasks: () => (closed ? [] : good.listTasks()),
      };
    },
  ],
  [
    'fails when it is closed twice',
    'closed/close-again',
    (good) => ({
      close: () => {
        good.listTasks();
        good.close();
      },
    }),
  ],
  [
    'acknowledges an append that it forgets at its end',
    'closed/finishes-what-is-under-way',
    (good) => {
      let closed = false;
      return {
        close: () => {
          closed = true;
          good.close();
        },
        appendEvent: async (taskDir, dispatchId, event) => {
          await later();
          if (!closed) good.appendEvent(taskDir, dispatchId, event);
        },
      };
    },
  ],
  [
    'states other capabilities',
    'capabilities/as-stated',
    () => ({
      capabilities: {
        durability: 'disk',
        writers: 'dispatch',
        search: 'scan',
        watch: true,
        deleteDispatch: true,
        rewrite: true,
        integrity: 'checksum',
      },
    }),
  ],
  [
    'implements another version of the contract',
    'capabilities/contract-version',
    () => ({ contract: 2 as never }),
  ],
  ['shows no claims', 'capabilities/claim-methods', () => ({ findClaim: undefined as never })],
  [
    'shows the claim of one dispatch only',
    'capabilities/claim-methods',
    () => ({ findClaims: undefined as never }),
  ],
  ['breaks no claims', 'capabilities/claim-methods', () => ({ breakClaim: undefined as never })],
  [
    'has no method to verify',
    'capabilities/integrity-methods',
    () => ({ verifyDispatch: undefined as never }),
  ],
  [
    'deletes the events only',
    'delete/gone',
    (good, world) => ({
      deleteDispatch: (taskDir, dispatchId) => {
        good.getDispatchEvents(taskDir, dispatchId);
        const dispatch = world.data.dispatches.get(taskDir)?.get(dispatchId);
        if (dispatch !== undefined) dispatch.events = [];
      },
    }),
  ],
  [
    'keeps the events of a deleted dispatch',
    'delete/begin-again',
    (good, world) => {
      const events = new Map<string, never[]>();
      return {
        deleteDispatch: (taskDir, dispatchId) => {
          events.set(dispatchId, good.getDispatchEvents(taskDir, dispatchId) as never[]);
          good.deleteDispatch(taskDir, dispatchId);
        },
        createDispatch: (taskDir, envelope) => {
          good.createDispatch(taskDir, envelope);
          const dispatch = world.data.dispatches.get(taskDir)?.get(envelope.dispatchId);
          if (dispatch !== undefined) dispatch.events = events.get(envelope.dispatchId) ?? [];
        },
      };
    },
  ],
  [
    'deletes the task with its last dispatch',
    'delete/last-dispatch',
    (good, world) => ({
      deleteDispatch: (taskDir, dispatchId) => {
        good.deleteDispatch(taskDir, dispatchId);
        world.data.tasks.delete(taskDir);
      },
    }),
  ],
  [
    'finds deleted events',
    'delete/not-found-by-search',
    (good) => {
      const deleted: never[] = [];
      return {
        deleteDispatch: (taskDir, dispatchId) => {
          deleted.push(...(good.searchEvents('text', { taskDir, dispatchId }) as never[]));
          good.deleteDispatch(taskDir, dispatchId);
        },
        searchEvents: (...args) => [...deleted, ...good.searchEvents(...args)],
      };
    },
  ],
  [
    'finds any of the words',
    'search/every-word',
    (good) => ({
      searchEvents: (query, options) => query.split(' ').flatMap((word) => good.searchEvents(word, options)),
    }),
  ],
  [
    'finds only whole runs of letters',
    'search/any-script',
    (good) => ({
      searchEvents: (query, options) => {
        const runs = /[\p{L}\p{N}\p{M}]+/gu;
        return good
          .searchEvents(query, options)
          .filter(({ event }) =>
            (query.match(runs) ?? []).every(
              (word) => !/[^\0-\x7f]/.test(word) || new Set(JSON.stringify(event.data).match(runs)).has(word),
            ),
          );
      },
    }),
  ],
  [
    'finds parts of words',
    'search/any-query',
    (good) => ({
      searchEvents: (query, options) => good.searchEvents(query === 'fo*' ? 'fox' : query, options),
    }),
  ],
  [
    'takes a query for a pattern',
    'search/any-query',
    (good) => ({
      searchEvents: (query, options) => {
        new RegExp(query);
        return good.searchEvents(query, options);
      },
    }),
  ],
  [
    'returns the newest hit first',
    'search/every-word',
    (good) => ({ searchEvents: (...args) => good.searchEvents(...args).reverse() }),
  ],
  [
    'returns the oldest hits',
    'listings/newest-hits',
    (good) => ({
      searchEvents: (query, { limit = 100, ...options } = {}) =>
        good.searchEvents(query, { ...options, limit: 1_000_000 }).slice(0, limit),
    }),
  ],
  [
    'returns the newest hits of each dispatch',
    'listings/newest-hits',
    (good) => ({
      searchEvents: (query, options = {}) =>
        good
          .listDispatches()
          .dispatches.flatMap(({ taskDir, dispatchId }) =>
            good.searchEvents(query, { ...options, taskDir, dispatchId: String(dispatchId) }),
          )
          .slice(-(options.limit ?? 100)),
    }),
  ],
  [
    'returns hits without a time after all others',
    'search/time-not-recorded',
    (good) => ({
      searchEvents: (query, { limit = 100, ...options } = {}) => {
        const all = good.searchEvents(query, { ...options, limit: 1_000_000 });
        const timed = all.filter(({ event }) => event.timestamp !== null);
        return [...timed, ...all.filter(({ event }) => event.timestamp === null)].slice(-limit);
      },
    }),
  ],
  [
    'returns 1,000 hits',
    'listings/many-hits',
    (good) => ({
      searchEvents: (query, options = {}) =>
        good.searchEvents(query, { ...options, limit: Math.min(options.limit ?? 100, 1_000) }),
    }),
  ],
  [
    'returns every hit without a limit',
    'search/limit',
    (good) => ({
      searchEvents: (query, options) => good.searchEvents(query, { limit: 1_000_000, ...options }),
    }),
  ],
  [
    'searches all dispatches for one',
    'search/places',
    (good) => ({
      searchEvents: (query, { dispatchId: _, ...options } = {}) => good.searchEvents(query, options),
    }),
  ],
  [
    'calls a listener once',
    'watch/appends',
    (good) => ({
      watch: (scope, onChange) => {
        let calls = 0;
        return good.watch(scope, () => {
          calls += 1;
          if (calls === 1) onChange();
        });
      },
    }),
  ],
  [
    'calls every listener three times for each change of the store',
    'watch/bounded',
    (good) => ({
      watch: (_, onChange) =>
        good.watch({}, () => {
          for (let call = 0; call < 3; call += 1) onChange();
        }),
    }),
  ],
  [
    'calls listeners that were stopped',
    'watch/stop',
    (good) => ({
      watch: (scope, onChange) => {
        good.watch(scope, onChange);
        return () => {};
      },
    }),
  ],
  [
    'fails when a listener is stopped after its close',
    'watch/stop-after-close',
    (good) => ({
      watch: (scope, onChange) => {
        const stop = good.watch(scope, onChange);
        return () => {
          good.listTasks();
          stop();
        };
      },
    }),
  ],
];
