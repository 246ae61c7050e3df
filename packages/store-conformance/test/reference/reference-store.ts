import {
  assertDispatchId,
  assertTaskDir,
  type CapturedEvent,
  type DispatchEnvelope,
  type DispatchPage,
  type DispatchRewrite,
  type DispatchStoreProvider,
  type EnvelopeUpdates,
  EventWords,
  type ListDispatchesOptions,
  type ReadEventsOptions,
  type SearchEventsOptions,
  type StoreCapabilities,
  type StoreError,
  storeErrors,
  type TaskRecord,
  type WatchScope,
} from '@hansard/provider';
import { createModelStore, listModel, modelPage } from '../../src/model/model-store.ts';
import { decodeLog, type ReadLog } from './damaged-log.ts';
import { ReferenceClaims } from './reference-claims.ts';
import { emptyWorld, inMemory, keyOf, type Medium, type World } from './world.ts';

export const referenceCapabilities: StoreCapabilities = {
  durability: 'process',
  writers: 'dispatch',
  search: 'scan',
  watch: true,
  deleteDispatch: true,
  rewrite: true,
  integrity: 'checksum',
};

export type ReferenceStore = ReturnType<typeof createReferenceStore>;
type Core = ReturnType<typeof createModelStore>;
type Listener = { readonly scope: WatchScope; readonly call: () => void };

/** Listeners of all openings in this process, by the medium. */
const listenersOf = new WeakMap<Medium, Set<Listener>>();

/**
 * A store with every capability: the model of the kit for the data, and for the rest the simplest code. Mutants change
 * one of its methods. Every method is independent of `this`.
 */
export function createReferenceStore(medium: Medium = inMemory(emptyWorld()), leaseMs = 15_000) {
  const opening = new ReferenceOpening(medium, leaseMs);
  return {
    contract: 1 as const,
    capabilities: referenceCapabilities,
    ...claimsOf(opening),
    ...changesOf(opening),
    ...readsOf(opening),
    ...searchOf(opening),
    ...integrityOf(opening),
    removeRemains: () => opening.call(() => []) as string[],
    getRepairs: () => opening.call(() => []),
    close: () => opening.close(),
  } satisfies DispatchStoreProvider;
}

/** One opening of the reference: its claims and listeners, and how it calls the model. */
class ReferenceOpening {
  readonly claims: ReferenceClaims;
  readonly listeners: Set<Listener>;
  readonly ownListeners = new Set<Listener>();
  readonly #medium: Medium;
  #isClosed = false;

  constructor(medium: Medium, leaseMs: number) {
    this.#medium = medium;
    this.claims = new ReferenceClaims(medium, leaseMs);
    this.listeners = listenersOf.get(medium) ?? new Set<Listener>();
    listenersOf.set(medium, this.listeners);
  }

  call<Answer>(action: (core: Core, world: World, key: string) => Answer, ...place: string[]): Answer {
    if (this.#isClosed) throw storeErrors.error('STORE_CLOSED', 'The store is closed.');
    const [taskDir = '', dispatchId = ''] = place;
    return this.#medium.use((world) =>
      action(createModelStore(world.data), world, keyOf(taskDir, dispatchId)),
    );
  }

  /** A call that reads events; `core` is the model without the damaged ones. */
  read<Answer>(place: string[], action: (core: Core) => Answer, skipDamaged = false): Answer {
    return this.call(
      (core, world, key) => {
        const damage = damageOf(world, key);
        if (damage === null) return action(core);
        if (!skipDamaged) throw corrupt(damage);
        const [taskDir = '', dispatchId = ''] = place;
        const envelope = world.data.dispatches.get(taskDir)?.get(dispatchId)?.envelope as DispatchEnvelope;
        const whole = new Map([[dispatchId, { envelope, events: [...damage.events], epoch: 1 }]]);
        return action(createModelStore({ tasks: new Map(), dispatches: new Map([[taskDir, whole]]) }));
      },
      ...place,
    );
  }

  write<Answer>(place: [string, string], action: (core: Core) => Answer): Answer {
    return this.call(
      (core, world, key) => {
        core.claimDispatch(...place);
        this.claims.assertOwn(world, key);
        const damage = damageOf(world, key);
        if (damage !== null) throw corrupt(damage);
        const answer = action(core);
        this.notify(...place);
        return answer;
      },
      ...place,
    );
  }

  notify(taskDir: string, dispatchId: string | null): void {
    for (const listener of [...this.listeners]) {
      const { scope } = listener;
      if (scope.taskDir !== undefined && scope.taskDir !== taskDir) continue;
      if (scope.dispatchId !== undefined && scope.dispatchId !== dispatchId) continue;
      queueMicrotask(() => this.listeners.has(listener) && listener.call());
    }
  }

  close(): void {
    if (this.#isClosed) return;
    this.#medium.use((world) => this.claims.releaseAll(world));
    for (const listener of this.ownListeners) this.listeners.delete(listener);
    this.#isClosed = true;
  }
}

/** The methods that begin, report and end a claim. */
function claimsOf(opening: ReferenceOpening) {
  return {
    createDispatch: (taskDir: string, envelope: DispatchEnvelope) =>
      opening.call(
        (core, world, key) => {
          core.createDispatch(taskDir, envelope);
          if (envelope.status === 'running') opening.claims.take(world, key);
          opening.notify(taskDir, envelope.dispatchId);
        },
        taskDir,
        envelope.dispatchId,
      ),
    claimDispatch: (taskDir: string, dispatchId: string) =>
      opening.call(
        (core, world, key) => {
          const { envelope } = core.claimDispatch(taskDir, dispatchId);
          assertEnvelope(world, key);
          return { envelope, epoch: opening.claims.take(world, key) };
        },
        taskDir,
        dispatchId,
      ),
    releaseDispatch: (taskDir: string, dispatchId: string) =>
      opening.call(
        (core, world, key) => {
          core.releaseDispatch(taskDir, dispatchId);
          opening.claims.release(world, key);
        },
        taskDir,
        dispatchId,
      ),
    findClaim: (taskDir: string, dispatchId: string) =>
      opening.call(
        (core, world, key) => {
          core.claimDispatch(taskDir, dispatchId);
          return opening.claims.describe(world, key);
        },
        taskDir,
        dispatchId,
      ),
    findClaims: (taskDir: string, dispatchIds: readonly string[]) =>
      opening.call((core, world) =>
        dispatchIds.map((dispatchId) =>
          core.getDispatchEnvelope(taskDir, dispatchId) === null
            ? null
            : opening.claims.describe(world, keyOf(taskDir, dispatchId)),
        ),
      ),
    breakClaim: (taskDir: string, dispatchId: string) =>
      opening.call(
        (core, world, key) => {
          core.claimDispatch(taskDir, dispatchId);
          world.claims.delete(key);
        },
        taskDir,
        dispatchId,
      ),
  };
}

/** The methods that change dispatches and tasks. */
function changesOf(opening: ReferenceOpening) {
  return {
    updateDispatch: (taskDir: string, dispatchId: string, updates: EnvelopeUpdates) =>
      opening.write([taskDir, dispatchId], (core) => core.updateDispatch(taskDir, dispatchId, updates)),
    appendEvent: (taskDir: string, dispatchId: string, event: CapturedEvent) =>
      opening.write([taskDir, dispatchId], (core) => core.appendEvent(taskDir, dispatchId, event)),
    appendEvents: (taskDir: string, dispatchId: string, events: readonly CapturedEvent[]) =>
      opening.write([taskDir, dispatchId], (core) => core.appendEvents(taskDir, dispatchId, events)),
    deleteDispatch: (taskDir: string, dispatchId: string) =>
      opening.call(
        (core, world, key) => {
          core.claimDispatch(taskDir, dispatchId);
          opening.claims.assertNotOthers(world, key);
          opening.claims.release(world, key);
          world.damaged.delete(key);
          core.deleteDispatch(taskDir, dispatchId);
          opening.notify(taskDir, dispatchId);
        },
        taskDir,
        dispatchId,
      ),
    rewriteDispatch: (taskDir: string, dispatchId: string, rewrite: DispatchRewrite) =>
      opening.call(
        (core, world, key) => {
          core.claimDispatch(taskDir, dispatchId);
          opening.claims.assertNotOthers(world, key);
          const damage = damageOf(world, key);
          if (damage !== null) throw corrupt(damage);
          const rewritten = core.rewriteDispatch(taskDir, dispatchId, rewrite);
          opening.notify(taskDir, dispatchId);
          return rewritten;
        },
        taskDir,
        dispatchId,
      ),
  };
}

/** The methods that read dispatches, and those of tasks. */
function readsOf(opening: ReferenceOpening) {
  return {
    getDispatchEnvelopes: (taskDir: string) =>
      opening.call((core, world) => {
        const envelopes = core.getDispatchEnvelopes(taskDir);
        for (const { dispatchId } of envelopes) assertEnvelope(world, keyOf(taskDir, dispatchId));
        return envelopes;
      }),
    listDispatches: (options: ListDispatchesOptions = {}) =>
      opening.call((_, world) => {
        if (options.taskDir !== undefined) assertTaskDir(options.taskDir);
        return list(world, options);
      }),
    getDispatchEnvelope: (taskDir: string, dispatchId: string) =>
      opening.call(
        (core, world, key) => {
          const envelope = core.getDispatchEnvelope(taskDir, dispatchId);
          assertEnvelope(world, key);
          return envelope;
        },
        taskDir,
        dispatchId,
      ),
    getDispatchEvents: (taskDir: string, dispatchId: string) =>
      opening.read([taskDir, dispatchId], (core) => core.getDispatchEvents(taskDir, dispatchId)),
    getRecentEvents: (taskDir: string, dispatchId: string, count: number) =>
      opening.read([taskDir, dispatchId], (core) => core.getRecentEvents(taskDir, dispatchId, count)),
    readEvents: (taskDir: string, dispatchId: string, options: ReadEventsOptions = {}) =>
      opening.read(
        [taskDir, dispatchId],
        (core) => core.readEvents(taskDir, dispatchId, options),
        options.skipDamaged,
      ),
    putTask: (taskDir: string, task: TaskRecord) =>
      opening.call((core) => {
        core.putTask(taskDir, task);
        opening.notify(taskDir, null);
      }),
    findTask: (taskDir: string) => opening.call((core) => core.findTask(taskDir)),
    listTasks: () => opening.call((core) => core.listTasks()),
  };
}

/** An event without a time is older than every other. */
function timeOf({ timestamp }: CapturedEvent): number {
  return timestamp === null ? Number.MIN_SAFE_INTEGER : Date.parse(timestamp);
}

/** Search and watch. */
function searchOf(opening: ReferenceOpening) {
  return {
    searchEvents: (query: string, { taskDir, dispatchId, limit = 100 }: SearchEventsOptions = {}) =>
      opening.call((_, world) => {
        if (taskDir !== undefined) assertTaskDir(taskDir);
        if (dispatchId !== undefined) assertDispatchId(dispatchId);
        const words = new EventWords(query);
        const hits = [];
        for (const [task, dispatches] of world.data.dispatches)
          for (const [id, { events }] of taskDir === undefined || task === taskDir ? dispatches : [])
            for (const [position, event] of dispatchId === undefined || id === dispatchId
              ? events.entries()
              : [])
              if (words.areIn(event))
                hits.push({ taskDir: task, dispatchId: id, position, event: structuredClone(event) });
        return hits.sort((one, other) => timeOf(one.event) - timeOf(other.event)).slice(-limit);
      }),
    watch: (scope: WatchScope, onChange: () => void) =>
      opening.call((core) => {
        const { taskDir, dispatchId } = scope;
        if (taskDir !== undefined) assertTaskDir(taskDir);
        if (taskDir !== undefined && dispatchId !== undefined) core.claimDispatch(taskDir, dispatchId);
        const listener = { scope, call: onChange };
        opening.listeners.add(listener);
        opening.ownListeners.add(listener);
        return () => {
          opening.listeners.delete(listener);
          opening.ownListeners.delete(listener);
        };
      }),
  };
}

/** The methods that find and drop damaged events. */
function integrityOf(opening: ReferenceOpening) {
  return {
    verifyDispatch: (taskDir: string, dispatchId: string) =>
      opening.call(
        (core, world, key) => verify(core, world, key, [taskDir, dispatchId]),
        taskDir,
        dispatchId,
      ),
    acceptLoss: (taskDir: string, dispatchId: string, notice: CapturedEvent) =>
      opening.call(
        (core, world, key) => {
          const found = verify(core, world, key, [taskDir, dispatchId]);
          opening.claims.assertNotOthers(world, key);
          const damage = damageOf(world, key);
          assertEnvelope(world, key);
          const dispatch = world.data.dispatches.get(taskDir)?.get(dispatchId);
          if (damage !== null && dispatch !== undefined)
            dispatch.events = [...damage.events, structuredClone(notice)];
          world.damaged.delete(key);
          return found;
        },
        taskDir,
        dispatchId,
      ),
  };
}

function damageOf(world: World, key: string): ReadLog | null {
  const bytes = world.damaged.get(key);
  return bytes === undefined ? null : decodeLog(bytes);
}

function assertEnvelope(world: World, key: string): void {
  if (damageOf(world, key)?.envelope === null) throw corrupt(damageOf(world, key));
}

function list(world: World, options: ListDispatchesOptions): DispatchPage {
  const listings = listModel(world.data).map((listing) => {
    const damage = damageOf(world, keyOf(listing.taskDir, String(listing.dispatchId)));
    if (damage?.envelope !== null) return listing;
    return { ...listing, envelope: null, lastActiveAt: null, error: corrupt(damage) };
  });
  return modelPage(listings, options, (code, details) => {
    throw storeErrors.error(code, 'The reference refused this.', { details: { ...details } });
  });
}

function verify(core: Core, world: World, key: string, place: [string, string]) {
  const events = core.getDispatchEvents(...place);
  const damage = damageOf(world, key);
  return {
    integrity: 'checksum' as const,
    wholeEvents: damage?.events.length ?? events.length,
    bytes: world.damaged.get(key)?.length ?? JSON.stringify(events).length,
    damages: damage?.damages ?? [],
  };
}

function corrupt(damage: ReadLog | null): StoreError {
  const [first] = damage?.damages ?? [];
  const wholeEvents = first?.eventsBefore ?? 0;
  return storeErrors.error('STORE_CORRUPT', `The log is damaged after ${wholeEvents} whole events.`, {
    details: { file: first?.place ?? 'the log', offset: first?.offset ?? 0, wholeEvents },
  });
}
