import type { CapturedEvent, DispatchEnvelope, EnvelopeUpdates } from '@hansard/events';
import { type DispatchStoreProvider, storeErrors } from '@hansard/provider';
import { got, isSteps, runLater, runNow, type Steps } from './steps.ts';

type Synchronous<T> = T extends (...values: infer A) => infer R ? (...values: A) => Awaited<R> : T;

/** A store whose methods return no promises, with the optional methods that a simulation calls. */
export type SynchronousStore = {
  [K in keyof Omit<
    Required<DispatchStoreProvider>,
    'adoptDispatches' | 'removeRemains' | 'findRemains' | 'getRepairs' | 'getServer'
  >]: Synchronous<Required<DispatchStoreProvider>[K]>;
};

type InSteps<T> = T extends (...values: infer A) => infer R ? (...values: A) => R | Steps<R> : T;

type FaultyMethods = { [K in keyof SynchronousStore]?: InSteps<SynchronousStore[K]> };

/** The methods that a fault replaces, which call the whole store. */
type Plant = (store: SynchronousStore) => FaultyMethods;

export interface ContractFault {
  readonly name: string;
  /** What `docs/contract.md` says, and the fault breaks. */
  readonly rule: string;
  readonly plant: Plant;
}

/**
 * Faults that were planted from `docs/contract.md` alone, before the simulation ran more than appends, claims and takeovers. Each wraps a store, so
 * all stores can have it.
 */
export const contractFaults: readonly ContractFault[] = [
  {
    name: 'a creation over an existing dispatch succeeds',
    rule: '1: to create an existing dispatch is a coded error',
    plant: (store) => ({
      createDispatch: (taskDir, envelope) =>
        unless('STORE_DISPATCH_EXISTS', () => got(store.createDispatch(taskDir, envelope)), undefined),
    }),
  },
  {
    name: 'an update without a claim is dropped',
    rule: '1: nothing is dropped silently',
    plant: (store) => ({
      *updateDispatch(taskDir, id, updates) {
        const stored = yield* got(store.getDispatchEnvelope(taskDir, id));
        const given = { ...stored, ...updates } as DispatchEnvelope;
        return yield* unless('STORE_LOCKED', () => got(store.updateDispatch(taskDir, id, updates)), given);
      },
    }),
  },
  {
    name: 'a batch is written event by event',
    rule: '2: a batch is all or nothing',
    plant: (store) => ({
      *appendEvents(taskDir, id, events) {
        const positions: number[] = [];
        for (const event of events) positions.push(yield* got(store.appendEvent(taskDir, id, event)));
        return positions;
      },
    }),
  },
  {
    name: 'an event waits for the next call',
    rule: '2: acknowledged events survive',
    plant: lateAppends,
  },
  {
    name: 'an event that is appended again has the last position',
    rule: '3: an append returns the position of an event which is stored already',
    plant: (store) => ({
      *appendEvent(taskDir, id, event) {
        const position = yield* got(store.appendEvent(taskDir, id, event));
        const { first, events } = yield* got(store.readEvents(taskDir, id, { last: 1 }));
        return Math.max(position, first + events.length - 1);
      },
    }),
  },
  {
    name: 'other content with the same id is skipped',
    rule: '3: the same id with different content is an error',
    plant: (store) => ({
      appendEvent: (taskDir, id, event) =>
        unless('STORE_EVENT_CONFLICT', () => got(store.appendEvent(taskDir, id, event)), 0),
    }),
  },
  {
    name: 'an append claims',
    rule: 'Claims: an append never claims',
    plant: (store) => ({
      *appendEvent(taskDir, id, event) {
        yield* got(store.claimDispatch(taskDir, id));
        return yield* got(store.appendEvent(taskDir, id, event));
      },
    }),
  },
  {
    name: 'an ended dispatch is released',
    rule: 'Claims: a claim lasts until its release, whatever the status becomes',
    plant: (store) => ({
      *updateDispatch(taskDir, id, updates) {
        const envelope = yield* got(store.updateDispatch(taskDir, id, updates));
        if (envelope.status !== 'running') yield* got(store.releaseDispatch(taskDir, id));
        return envelope;
      },
    }),
  },
  {
    name: 'a release keeps the claim',
    rule: 'Claims: releaseDispatch and close release it',
    plant: () => ({ releaseDispatch: () => undefined }),
  },
  {
    name: 'an update writes the envelope of the first update',
    rule: '1: an update changes the named fields',
    plant: rememberedEnvelopes,
  },
  {
    name: 'a rewrite leaves the last event',
    rule: 'Rewrites: replaces the envelope and the events by their new forms',
    plant: (store) => ({
      *rewriteDispatch(taskDir, id, rewrite) {
        const last = (yield* got(store.getRecentEvents(taskDir, id, 1)))[0]?.id;
        const event = (one: CapturedEvent) => (one.id === last ? one : rewrite.event(one));
        return yield* got(store.rewriteDispatch(taskDir, id, { ...rewrite, event }));
      },
    }),
  },
  {
    name: 'a rewrite takes a dispatch from its owner',
    rule: 'Claims: a claim of what another opening has claimed is STORE_LOCKED',
    plant: (store) => ({
      *rewriteDispatch(taskDir, id, rewrite) {
        const work = () => got(store.rewriteDispatch(taskDir, id, rewrite));
        return yield* insisting(store, taskDir, id, work);
      },
    }),
  },
  {
    name: 'a deletion takes a dispatch from its owner',
    rule: '6: only the opening that has claimed a dispatch writes to it',
    plant: (store) => ({
      *deleteDispatch(taskDir, id) {
        yield* insisting(store, taskDir, id, () => got(store.deleteDispatch(taskDir, id)));
      },
    }),
  },
  {
    name: 'a deletion only hides',
    rule: '1: a deleted dispatch is gone, for every opening',
    plant: hiddenDispatches,
  },
  {
    name: 'a reader remembers the events that it read',
    rule: 'Rewrites: new content in every way to read it',
    plant: rememberedEvents,
  },
  {
    name: 'a listing of all ends with its first page',
    rule: 'Listings: its next is the after of the next page',
    plant: (store) => ({
      *listDispatches(options) {
        return { ...(yield* got(store.listDispatches(options))), next: null };
      },
    }),
  },
  {
    name: 'a listing omits what it cannot read',
    rule: 'Newer versions: the listing has an entry with that error',
    plant: (store) => ({
      *listDispatches(options) {
        const { dispatches, next } = yield* got(store.listDispatches(options));
        return { dispatches: dispatches.filter(({ envelope }) => envelope !== null), next };
      },
    }),
  },
  {
    name: 'a listing of the store has the letters',
    rule: 'Listings: the whole store without what is below _hansard',
    plant: (store) => ({
      *listDispatches(options = {}) {
        const page = yield* got(store.listDispatches(options));
        if (options.taskDir !== undefined || page.next !== null || options.internal === true) return page;
        const ofLetters = { ...options, internal: true, after: undefined as never };
        const letters = yield* got(store.listDispatches(ofLetters));
        return { ...page, dispatches: [...page.dispatches, ...letters.dispatches] };
      },
    }),
  },
  {
    name: 'a search remembers its hits',
    rule: 'Rewrites: a search does not find the old content',
    plant: rememberedHits,
  },
  {
    name: 'a listener hears its own opening only',
    rule: 'Search and watching: no change is missed',
    plant: ownChanges,
  },
  {
    name: 'a page begins one event late',
    rule: '5: a page has its first position and the cursor of the next',
    plant: (store) => ({
      *readEvents(taskDir, id, options = {}) {
        const { after } = options;
        const { first, events, next } = yield* got(store.readEvents(taskDir, id, options));
        if (after === undefined || after < 0) return { first, events, next };
        return events.length < 2
          ? { first, events, next }
          : { first: first + 1, events: events.slice(1), next };
      },
    }),
  },
];

function* unless<T>(
  code: 'STORE_DISPATCH_EXISTS' | 'STORE_LOCKED' | 'STORE_EVENT_CONFLICT',
  work: () => Steps<T>,
  instead: T,
): Steps<T> {
  try {
    return yield* work();
  } catch (error) {
    if (storeErrors.is(error, code)) return instead;
    throw error;
  }
}

function* insisting<T>(store: SynchronousStore, taskDir: string, id: string, work: () => Steps<T>): Steps<T> {
  try {
    return yield* work();
  } catch (error) {
    if (!storeErrors.is(error, 'STORE_LOCKED')) throw error;
    yield* got(store.breakClaim(taskDir, id));
    return yield* work();
  }
}

function placeOf(taskDir: string, id: string): string {
  return `${taskDir}\n${id}`;
}

/** The last event of each dispatch is in memory until the next call of the dispatch. */
function lateAppends(store: SynchronousStore): FaultyMethods {
  const waiting = new Map<string, CapturedEvent>();
  function* flush(taskDir: string, id: string): Steps<void> {
    const event = waiting.get(placeOf(taskDir, id));
    waiting.delete(placeOf(taskDir, id));
    if (event !== undefined) yield* got(store.appendEvent(taskDir, id, event));
  }
  return {
    *appendEvent(taskDir, id, event) {
      yield* flush(taskDir, id);
      const { first, events } = yield* got(store.readEvents(taskDir, id, { last: 1 }));
      const claim = yield* got(store.findClaim(taskDir, id));
      if (claim?.isOwn !== true) return yield* got(store.appendEvent(taskDir, id, event));
      waiting.set(placeOf(taskDir, id), event);
      return first + events.length;
    },
    *appendEvents(taskDir, id, events) {
      yield* flush(taskDir, id);
      return yield* got(store.appendEvents(taskDir, id, events));
    },
    *releaseDispatch(taskDir, id) {
      yield* flush(taskDir, id);
      yield* got(store.releaseDispatch(taskDir, id));
    },
  };
}

function rememberedEnvelopes(store: SynchronousStore): FaultyMethods {
  const known = new Map<string, EnvelopeUpdates>();
  return {
    *updateDispatch(taskDir, id, updates) {
      const before = known.get(placeOf(taskDir, id)) ?? {};
      const envelope = yield* got(store.updateDispatch(taskDir, id, { ...before, ...updates }));
      const { title, model, structuredResult } = envelope;
      known.set(placeOf(taskDir, id), { title, model, structuredResult });
      return envelope;
    },
  };
}

function hiddenDispatches(store: SynchronousStore): FaultyMethods {
  const hidden = new Set<string>();
  return {
    *deleteDispatch(taskDir, id) {
      yield* got(store.claimDispatch(taskDir, id));
      yield* got(store.releaseDispatch(taskDir, id));
      hidden.add(placeOf(taskDir, id));
    },
    getDispatchEnvelope: (taskDir, id) =>
      hidden.has(placeOf(taskDir, id)) ? null : store.getDispatchEnvelope(taskDir, id),
    *createDispatch(taskDir, envelope) {
      if (hidden.delete(placeOf(taskDir, envelope.dispatchId)))
        yield* got(store.deleteDispatch(taskDir, envelope.dispatchId));
      yield* got(store.createDispatch(taskDir, envelope));
    },
  };
}

/** Reads only the events after those that it has read. */
function rememberedEvents(store: SynchronousStore): FaultyMethods {
  const known = new Map<string, CapturedEvent[]>();
  return {
    *getDispatchEvents(taskDir, id) {
      const before = known.get(placeOf(taskDir, id)) ?? [];
      const all = yield* got(store.getDispatchEvents(taskDir, id));
      const events = [...before, ...all.slice(before.length)];
      known.set(placeOf(taskDir, id), events);
      return structuredClone(events);
    },
  };
}

function rememberedHits(store: SynchronousStore): FaultyMethods {
  const known = new Map<string, ReturnType<SynchronousStore['searchEvents']>>();
  return {
    *searchEvents(query, options = {}) {
      const key = JSON.stringify([query, options]);
      const before = known.get(key) ?? [];
      const ids = new Set(before.map(({ event }) => event.id));
      const found = yield* got(store.searchEvents(query, options));
      const hits = [...before, ...found.filter(({ event }) => !ids.has(event.id))];
      known.set(key, hits);
      return hits;
    },
  };
}

/** Calls its listeners after the changes that it makes itself. */
function ownChanges(store: SynchronousStore): FaultyMethods {
  const listeners = new Set<() => void>();
  const after = <A extends unknown[], R>(call: (...values: A) => R) =>
    function* (...values: A): Steps<R> {
      const result = yield* got(call.apply(store, values));
      for (const listener of listeners) listener();
      return result;
    };
  return {
    watch(_, onChange) {
      listeners.add(onChange);
      return () => void listeners.delete(onChange);
    },
    createDispatch: after(store.createDispatch),
    appendEvent: after(store.appendEvent),
    appendEvents: after(store.appendEvents),
    updateDispatch: after(store.updateDispatch),
    rewriteDispatch: after(store.rewriteDispatch),
    deleteDispatch: after(store.deleteDispatch),
    putTask: after(store.putTask),
  };
}

/** A store with the fault of this name; the store itself without one. `isLater`: its methods return promises. */
export function withContractFault<S extends object>(store: S, name: string | undefined, isLater = false): S {
  const fault = contractFaults.find((one) => one.name === name);
  if (fault === undefined) return store;
  const replaced = fault.plant(store as unknown as SynchronousStore);
  const run = (result: unknown) => {
    if (isSteps(result)) return isLater ? runLater(result) : runNow(result);
    return isLater ? Promise.resolve(result) : result;
  };
  return new Proxy(store, {
    get(target, key) {
      const method = Object.hasOwn(replaced, key) && replaced[key as keyof SynchronousStore];
      if (typeof method === 'function')
        return (...values: never[]) => run((method as (...of: never[]) => unknown)(...values));
      const member: unknown = Reflect.get(target, key, target);
      return typeof member === 'function' ? member.bind(target) : member;
    },
  });
}
