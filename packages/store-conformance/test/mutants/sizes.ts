import type { CapturedEvent } from '@hansard/provider';
import { storeErrors } from '@hansard/provider';
import type { Mutant } from './mutant.ts';
import { appending } from './mutant.ts';

const leaked: unknown[] = [];

/** Stores that are right while they are small. */
export const sizeMutants: readonly Mutant[] = [
  [
    'counts positions in 16 bits',
    'sizes/long-log',
    appending(
      (good) => (taskDir, dispatchId, events) =>
        good.appendEvents(taskDir, dispatchId, events).map((position) => position & 0xffff),
    ),
  ],
  [
    'forgets the ids of all but the last 50,000 events',
    'sizes/long-log',
    appending((good, world) => (taskDir, dispatchId, events) => {
      const dispatch = world.data.dispatches.get(taskDir)?.get(dispatchId);
      if (dispatch === undefined || dispatch.events.length <= 50_000)
        return good.appendEvents(taskDir, dispatchId, events);
      const forgotten = new Set(dispatch.events.slice(0, -50_000).map(({ id }) => id));
      const again = events.filter(({ id }) => forgotten.has(id));
      if (again.length === 0) return good.appendEvents(taskDir, dispatchId, events);
      const first = dispatch.events.length;
      dispatch.events = [...dispatch.events, ...structuredClone(again)];
      return again.map((_, index) => first + index);
    }),
  ],
  [
    'gives at most the last 10,000 events',
    'sizes/long-log',
    (good) => ({
      getRecentEvents: (taskDir, dispatchId, count) =>
        good.getRecentEvents(taskDir, dispatchId, Math.min(count, 10_000)),
    }),
  ],
  [
    'has at most 20,000 events in a page',
    'sizes/long-log',
    (good) => ({
      readEvents: (taskDir, dispatchId, options = {}) =>
        good.readEvents(taskDir, dispatchId, {
          ...options,
          ...(options.limit !== undefined && { limit: Math.min(options.limit, 20_000) }),
        }),
    }),
  ],
  [
    'has at most 4,096 of the last events in a page',
    'sizes/long-log',
    (good) => ({
      readEvents: (taskDir, dispatchId, options = {}) =>
        good.readEvents(taskDir, dispatchId, {
          ...options,
          ...(options.last !== undefined && { last: Math.min(options.last, 4_096) }),
        }),
    }),
  ],
  [
    'takes a cursor above 65,535 for an invalid one',
    'sizes/long-log',
    (good) => ({
      readEvents: (taskDir, dispatchId, options = {}) => {
        if ((options.after ?? 0) > 65_535)
          throw storeErrors.error('STORE_INVALID_CURSOR', 'Too far.', { details: { after: options.after } });
        return good.readEvents(taskDir, dispatchId, options);
      },
    }),
  ],
  [
    'searches the first 16,384 events of a dispatch',
    'sizes/long-log',
    (good) => ({
      searchEvents: (query, options) =>
        good.searchEvents(query, options).filter(({ position }) => position < 16_384),
    }),
  ],
  [
    'finds at most 10,000 events',
    'sizes/long-log',
    (good) => ({
      searchEvents: (query, options = {}) =>
        good.searchEvents(query, { ...options, limit: Math.min(options.limit ?? 100, 10_000) }),
    }),
  ],
  [
    'rewrites the first 32,768 events of a dispatch',
    'sizes/long-log',
    (good) => ({
      rewriteDispatch: (taskDir, dispatchId, rewrite) => {
        let index = -1;
        return good.rewriteDispatch(taskDir, dispatchId, {
          ...rewrite,
          event: (event) => {
            index += 1;
            const old = structuredClone(event);
            const next = rewrite.event(event);
            return index < 32_768 ? next : old;
          },
        });
      },
    }),
  ],
  [
    'orders events after the 65,536th as texts',
    'sizes/long-log',
    (good) => ({
      getDispatchEvents: (taskDir, dispatchId) => {
        const events = good.getDispatchEvents(taskDir, dispatchId);
        return [...events.slice(0, 65_536), ...events.slice(65_536).reverse()];
      },
    }),
  ],
  [
    'does not see a conflict with an event after the 60,000th',
    'sizes/long-log',
    appending((good, world) => (taskDir, dispatchId, events) => {
      const stored = world.data.dispatches.get(taskDir)?.get(dispatchId)?.events ?? [];
      if (stored.length <= 60_000) return good.appendEvents(taskDir, dispatchId, events);
      const beyond = new Map(stored.slice(60_000).map((event, index) => [event.id, 60_000 + index]));
      if (events.length === 1 && beyond.has(events[0]?.id ?? ''))
        return [beyond.get(events[0]?.id ?? '') as number];
      return good.appendEvents(taskDir, dispatchId, events);
    }),
  ],
  [
    'verifies the first 50,000 events',
    'sizes/long-log',
    (good) => ({
      verifyDispatch: (taskDir, dispatchId) => {
        const found = good.verifyDispatch(taskDir, dispatchId);
        return { ...found, wholeEvents: Math.min(found.wholeEvents, 50_000) };
      },
    }),
  ],
  [
    'lists the first 1,100 dispatches',
    'sizes/many-dispatches',
    (good, world) => ({
      listDispatches: (options = {}) => {
        const page = good.listDispatches(options);
        const all = [...world.data.dispatches.values()].flatMap((ids) => [...ids.keys()]);
        if (all.length <= 1_100) return page;
        const known = new Set(all.slice(0, 1_100));
        return { ...page, dispatches: page.dispatches.filter((one) => known.has(one.dispatchId ?? '')) };
      },
    }),
  ],
  [
    'lists 2,000 tasks',
    'sizes/many-tasks',
    (good) => ({ listTasks: () => good.listTasks().slice(0, 2_000) }),
  ],
  [
    'finds 100 claims at once',
    'claims/states',
    (good) => ({
      findClaims: (taskDir, ids) =>
        good.findClaims(taskDir, ids).map((claim, index) => (index < 100 ? claim : null)),
    }),
  ],
  [
    'counts the claims of a dispatch in 8 bits',
    'sizes/many-claims',
    (good) => ({
      claimDispatch: (taskDir, dispatchId) => {
        const claim = good.claimDispatch(taskDir, dispatchId);
        return { ...claim, epoch: claim.epoch % 256 || 1 };
      },
    }),
  ],
  [
    'reports the first 500 changes',
    'sizes/many-changes',
    (good) => ({
      watch: (scope, onChange) => {
        let calls = 0;
        return good.watch(scope, () => {
          calls += 1;
          if (calls <= 500) onChange();
        });
      },
    }),
  ],
  [
    'ignores the updates of an envelope after the 1,000th',
    'sizes/many-updates',
    (good) => {
      const counts = new Map<string, number>();
      return {
        updateDispatch: (taskDir, dispatchId, updates) => {
          const count = (counts.get(dispatchId) ?? 0) + 1;
          counts.set(dispatchId, count);
          const before = good.updateDispatch(taskDir, dispatchId, {});
          return count > 1_000
            ? { ...before, ...updates }
            : good.updateDispatch(taskDir, dispatchId, updates);
        },
      };
    },
  ],
  [
    'keeps every event that it ever returned',
    'sizes/memory',
    (good) => ({
      readEvents: (taskDir, dispatchId, options) => {
        const page = good.readEvents(taskDir, dispatchId, options);
        leaked.push(structuredClone(page.events) as readonly CapturedEvent[]);
        return page;
      },
    }),
  ],
  [
    'keeps every listener that was stopped',
    'sizes/memory',
    (good) => {
      const listeners: unknown[] = [];
      return {
        watch: (scope, onChange) => {
          listeners.push([{ ...scope }, onChange, new Array(100).fill(0)]);
          leaked.push(listeners);
          return good.watch(scope, onChange);
        },
      };
    },
  ],
  [
    'keeps every query that it answered',
    'sizes/memory',
    (good) => ({
      searchEvents: (query, options) => {
        const hits = good.searchEvents(query, options);
        leaked.push(structuredClone(hits), query.repeat(2));
        return hits;
      },
    }),
  ],
  [
    'keeps each version of an envelope',
    'sizes/memory',
    (good) => ({
      updateDispatch: (taskDir, dispatchId, updates) => {
        const envelope = good.updateDispatch(taskDir, dispatchId, updates);
        leaked.push(structuredClone(envelope));
        return envelope;
      },
    }),
  ],
  [
    'keeps something of every claim that was released',
    'sizes/memory',
    (good) => ({
      claimDispatch: (taskDir, dispatchId) => {
        const claim = good.claimDispatch(taskDir, dispatchId);
        leaked.push(structuredClone(claim));
        return claim;
      },
    }),
  ],
];
