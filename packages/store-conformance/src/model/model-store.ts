import { isDeepStrictEqual } from 'node:util';
import {
  assertDispatchId,
  assertTaskDir,
  type CapturedEvent,
  type ClaimState,
  type DispatchEnvelope,
  type DispatchListing,
  type DispatchPage,
  type DispatchRewrite,
  type DispatchStoreProvider,
  type EnvelopeUpdates,
  type ListDispatchesOptions,
  type ReadEventsOptions,
  type StoreError,
  storeErrors,
  type TaskRecord,
} from '@hansard/provider';

interface ModelDispatch {
  envelope: DispatchEnvelope;
  events: CapturedEvent[];
  /** The number of its claims. */
  epoch: number;
}

/** The data of a model. Give it to a second model to open it again. */
export interface ModelData {
  readonly tasks: Map<string, TaskRecord>;
  /** By task, then by dispatch. */
  readonly dispatches: Map<string, Map<string, ModelDispatch>>;
}

/** Which opening has the claim of a dispatch. Give it to several models of the same data, so that each knows the claims of the others. */
export type ModelClaims = Map<ModelDispatch, ModelOpening>;

export const emptyModelData = (): ModelData => ({ tasks: new Map(), dispatches: new Map() });

const statuses: readonly string[] = ['running', 'completed', 'aborted', 'crashed'];

/** Whether this version reads an envelope: by the fields in which those of the next version in the kit differ. */
function isKnownEnvelope({ status, fidelity, taskSlug, usage, cost }: DispatchEnvelope): boolean {
  const isKnownCost = cost === null || typeof cost === 'number';
  const isKnownUsage = usage === null || typeof usage === 'object';
  const isKnownName = typeof taskSlug === 'string' && ['narrative', 'full'].includes(fidelity);
  return isKnownCost && isKnownUsage && isKnownName && statuses.includes(status);
}

function newerError(): StoreError {
  return storeErrors.error('STORE_NEWER', 'A newer version wrote this.');
}

function knownEnvelope<Envelope extends DispatchEnvelope | null>(envelope: Envelope): Envelope {
  if (envelope === null || isKnownEnvelope(envelope)) return structuredClone(envelope);
  throw newerError();
}

function knownTask(task: TaskRecord | null): TaskRecord | null {
  if (task === null || (typeof task.name === 'string' && typeof task.status === 'string'))
    return structuredClone(task);
  throw newerError();
}

/** Every dispatch, in any order. */
export function listModel({ dispatches }: ModelData): DispatchListing[] {
  return [...dispatches].flatMap(([taskDir, ofTask]) =>
    [...ofTask].map(([dispatchId, { envelope, events }]) => {
      if (!isKnownEnvelope(envelope))
        return { taskDir, dispatchId, envelope: null, lastActiveAt: null, error: newerError() };
      const last = events.at(-1);
      const lastActiveAt = last === undefined ? envelope.startedAt : last.timestamp;
      return { taskDir, dispatchId, envelope, lastActiveAt };
    }),
  );
}

/**
 * The contract as the simplest code: lists that are searched from the front, and deep copies of all arguments and results.
 * The answers of a store are compared with its answers.
 */
export function createModelStore(data: ModelData = emptyModelData()) {
  return storeOf(new ModelOpening(data, new Map()));
}

function storeOf(state: ModelOpening) {
  return {
    contract: 1 as const,
    capabilities: {
      durability: 'process',
      writers: 'process',
      search: false,
      watch: false,
      deleteDispatch: true,
      rewrite: true,
      integrity: 'none',
    },
    ...claimsOf(state),
    ...changesOf(state),
    ...readsOf(state),
    ...tasksOf(state),
    close() {
      state.close();
    },
  } satisfies DispatchStoreProvider;
}

/** The methods of a store with `writers: 'dispatch'` beside those of {@link createModelStore}, for an opening that shares its claims. */
export function createSharedModelStore(data: ModelData, claims: ModelClaims) {
  const state = new ModelOpening(data, claims);
  const claimOf = (dispatch: ModelDispatch | undefined): ClaimState | null => {
    const owner = dispatch && claims.get(dispatch);
    if (owner === undefined) return null;
    return { owner: 'an opening', isOwn: owner === state, state: 'running', expiresInMs: null };
  };
  return {
    ...storeOf(state),
    findClaim: (taskDir: string, dispatchId: string) => claimOf(state.find(taskDir, dispatchId)),
    findClaims: (taskDir: string, dispatchIds: readonly string[]) =>
      dispatchIds.map((dispatchId) => claimOf(data.dispatches.get(taskDir)?.get(dispatchId))),
    breakClaim(taskDir: string, dispatchId: string) {
      claims.delete(state.find(taskDir, dispatchId));
    },
  } satisfies DispatchStoreProvider;
}

/** One opening of a model: what it has claimed, and how it finds a dispatch. */
class ModelOpening {
  readonly data: ModelData;
  readonly claims: ModelClaims;
  #isClosed = false;

  constructor(data: ModelData, claims: ModelClaims) {
    this.data = data;
    this.claims = claims;
  }

  close(): void {
    for (const [dispatch, owner] of this.claims) if (owner === this) this.claims.delete(dispatch);
    this.#isClosed = true;
  }

  /** @throws STORE_LOCKED with an owner if another opening has the claim */
  assertNotOthers(dispatch: ModelDispatch): void {
    const owner = this.claims.get(dispatch);
    if (owner === undefined || owner === this) return;
    const { dispatchId } = dispatch.envelope;
    refuse('STORE_LOCKED', { owner: 'another opening', dispatchId });
  }

  enter(taskDir?: string, dispatchId?: string): void {
    if (this.#isClosed) refuse('STORE_CLOSED');
    if (taskDir !== undefined) assertTaskDir(taskDir);
    if (dispatchId !== undefined) assertDispatchId(dispatchId);
  }

  find(taskDir: string, dispatchId: string): ModelDispatch {
    this.enter(taskDir, dispatchId);
    return (
      this.data.dispatches.get(taskDir)?.get(dispatchId) ??
      refuse('STORE_DISPATCH_NOT_FOUND', { taskDir, dispatchId })
    );
  }

  findClaimed(taskDir: string, dispatchId: string): ModelDispatch {
    const dispatch = this.find(taskDir, dispatchId);
    this.assertNotOthers(dispatch);
    return this.claims.has(dispatch) ? dispatch : refuse('STORE_LOCKED', { taskDir, dispatchId });
  }

  append(taskDir: string, dispatchId: string, events: readonly CapturedEvent[]): number[] {
    const dispatch = this.findClaimed(taskDir, dispatchId);
    const next = new Map(dispatch.events.map((event) => [event.id, event]));
    for (const event of events) {
      const copy = JSON.parse(JSON.stringify(event)) as CapturedEvent;
      const stored = next.get(copy.id);
      if (stored === undefined) next.set(copy.id, copy);
      else if (!isDeepStrictEqual(stored, copy)) refuse('STORE_EVENT_CONFLICT', { eventId: copy.id });
    }
    dispatch.events = [...next.values()];
    const positions = new Map([...next.keys()].map((id, position) => [id, position]));
    return events.map(({ id }) => positions.get(id) as number);
  }
}

function refuse(code: StoreError['code'], details: object = {}): never {
  throw storeErrors.error(code, 'The model refused this.', { details: { ...details } });
}

/** The methods that begin and end a claim. */
function claimsOf(state: ModelOpening) {
  return {
    createDispatch(taskDir: string, envelope: DispatchEnvelope) {
      state.enter(taskDir, envelope.dispatchId);
      const dispatches = state.data.dispatches.get(taskDir) ?? new Map<string, ModelDispatch>();
      const { dispatchId } = envelope;
      if (dispatches.has(dispatchId)) refuse('STORE_DISPATCH_EXISTS', { taskDir, dispatchId });
      const epoch = envelope.status === 'running' ? 1 : 0;
      const dispatch: ModelDispatch = { envelope: structuredClone(envelope), events: [], epoch };
      dispatches.set(envelope.dispatchId, dispatch);
      state.data.dispatches.set(taskDir, dispatches);
      if (envelope.status === 'running') state.claims.set(dispatch, state);
    },
    claimDispatch(taskDir: string, dispatchId: string) {
      const dispatch = state.find(taskDir, dispatchId);
      state.assertNotOthers(dispatch);
      const envelope = knownEnvelope(dispatch.envelope);
      if (!state.claims.has(dispatch)) dispatch.epoch += 1;
      state.claims.set(dispatch, state);
      return { envelope, epoch: dispatch.epoch };
    },
    releaseDispatch(taskDir: string, dispatchId: string) {
      state.enter(taskDir, dispatchId);
      const dispatch = state.data.dispatches.get(taskDir)?.get(dispatchId);
      if (dispatch !== undefined && state.claims.get(dispatch) === state) state.claims.delete(dispatch);
    },
  };
}

/** The methods that change a dispatch. */
function changesOf(state: ModelOpening) {
  return {
    updateDispatch(taskDir: string, dispatchId: string, updates: EnvelopeUpdates) {
      const dispatch = state.findClaimed(taskDir, dispatchId);
      dispatch.envelope = { ...dispatch.envelope, ...structuredClone(updates) };
      return structuredClone(dispatch.envelope);
    },
    appendEvent(taskDir: string, dispatchId: string, event: CapturedEvent) {
      return state.append(taskDir, dispatchId, [event])[0] as number;
    },
    appendEvents: (taskDir: string, dispatchId: string, events: readonly CapturedEvent[]) =>
      state.append(taskDir, dispatchId, events),
    deleteDispatch(taskDir: string, dispatchId: string) {
      const dispatch = state.find(taskDir, dispatchId);
      state.assertNotOthers(dispatch);
      state.claims.delete(dispatch);
      state.data.dispatches.get(taskDir)?.delete(dispatchId);
    },
    rewriteDispatch(taskDir: string, dispatchId: string, { envelope, event, notice }: DispatchRewrite) {
      const dispatch = state.find(taskDir, dispatchId);
      state.assertNotOthers(dispatch);
      const next = structuredClone(envelope(knownEnvelope(dispatch.envelope)));
      const events = structuredClone(dispatch.events).map(event);
      dispatch.events = structuredClone([...events, ...(notice === undefined ? [] : [notice()])]);
      dispatch.envelope = next;
      return { remains: [] };
    },
  };
}

/** The methods that read dispatches. */
function readsOf(state: ModelOpening) {
  return {
    getDispatchEnvelopes(taskDir: string) {
      state.enter(taskDir);
      const envelopes = [...(state.data.dispatches.get(taskDir)?.values() ?? [])].map(
        ({ envelope }) => envelope,
      );
      const key = ({ startedAt, dispatchId }: DispatchEnvelope) => `${startedAt ?? ''} ${dispatchId}`;
      return envelopes.sort((one, other) => (key(one) < key(other) ? -1 : 1)).map(knownEnvelope);
    },
    listDispatches(options: ListDispatchesOptions = {}) {
      state.enter(options.taskDir);
      return modelPage(listModel(state.data), options, refuse);
    },
    getDispatchEnvelope(taskDir: string, dispatchId: string) {
      state.enter(taskDir, dispatchId);
      return knownEnvelope(state.data.dispatches.get(taskDir)?.get(dispatchId)?.envelope ?? null);
    },
    getDispatchEvents(taskDir: string, dispatchId: string) {
      return structuredClone(state.find(taskDir, dispatchId).events);
    },
    getRecentEvents(taskDir: string, dispatchId: string, count: number) {
      const { events } = state.find(taskDir, dispatchId);
      return structuredClone(events.slice(Math.max(0, events.length - count)));
    },
    readEvents(
      taskDir: string,
      dispatchId: string,
      { after = -1, limit = 1_000, last }: ReadEventsOptions = {},
    ) {
      const { events } = state.find(taskDir, dispatchId);
      if (last !== undefined) {
        const first = Math.max(0, events.length - last);
        return { events: structuredClone(events.slice(first)), first, next: events.length - 1 };
      }
      if (after >= events.length) refuse('STORE_INVALID_CURSOR', { after });
      const asked = events.slice(after + 1, after + 1 + limit);
      const page = structuredClone(asked.slice(0, fittingIn(asked)));
      return { events: page, first: after + 1, next: after + page.length };
    },
  };
}

/** How many events a page of at most 8 MiB has, at least one. */
function fittingIn(events: readonly CapturedEvent[]): number {
  let bytes = 0;
  const beyond = events.findIndex((event) => {
    bytes += JSON.stringify(event).length;
    return bytes > 8 * 1024 * 1024;
  });
  return beyond < 0 ? events.length : Math.max(1, beyond);
}

/** The methods for tasks. */
function tasksOf(state: ModelOpening) {
  return {
    putTask(taskDir: string, task: TaskRecord) {
      state.enter(taskDir);
      knownTask(state.data.tasks.get(taskDir) ?? null);
      state.data.tasks.set(taskDir, structuredClone(task));
    },
    findTask(taskDir: string) {
      state.enter(taskDir);
      return knownTask(state.data.tasks.get(taskDir) ?? null);
    },
    listTasks() {
      state.enter();
      const withDispatch = [...state.data.dispatches].filter(([, dispatches]) => dispatches.size > 0);
      const names = new Set([...state.data.tasks.keys(), ...withDispatch.map(([taskDir]) => taskDir)]);
      return [...names]
        .filter((taskDir) => !taskDir.startsWith('_hansard/'))
        .sort()
        .map((taskDir) => {
          try {
            return { taskDir, task: knownTask(state.data.tasks.get(taskDir) ?? null) };
          } catch {
            return { taskDir, task: null, error: newerError() };
          }
        });
    },
  };
}

/** A page of these dispatches, without the code of a store. Its cursor is the text by which it sorts. */
export function modelPage(
  listings: readonly DispatchListing[],
  {
    taskDir,
    internal = false,
    status,
    startedSince,
    order = 'oldest',
    after,
    limit = 1_000,
  }: ListDispatchesOptions,
  fail: (code: StoreError['code'], details: object) => never,
): DispatchPage {
  const inTask = listings.filter((listing) =>
    taskDir === undefined
      ? listing.taskDir.startsWith('_hansard/') === internal
      : listing.taskDir === taskDir,
  );
  const readable = inTask.filter(
    ({ envelope }) =>
      envelope !== null &&
      (status === undefined || status.includes(envelope.status)) &&
      (startedSince === undefined || (envelope.startedAt !== null && envelope.startedAt >= startedSince)),
  );
  const damaged = inTask.filter(({ envelope }) => envelope === null);
  const isAfter = (key: string) => {
    if (after === undefined) return true;
    const isDamaged = key.startsWith('damaged');
    if (isDamaged !== after.startsWith('damaged')) return isDamaged;
    return order === 'newest' && !isDamaged ? key < after : key > after;
  };
  const sorted = sortBy(readable, keyOf);
  const all = [...(order === 'newest' ? sorted.reverse() : sorted), ...sortBy(damaged, keyOf)];
  if (after !== undefined && !/^(0 none|damaged|\d{4}-\S+) [\da-f]+ \S+$/.test(after))
    fail('STORE_INVALID_CURSOR', { after });
  const rest = all.filter((listing) => isAfter(keyOf(listing)));
  const dispatches = rest.slice(0, limit);
  const last = dispatches.at(-1);
  const next = last === undefined || dispatches.length === rest.length ? null : keyOf(last);
  return { dispatches: structuredCloneOf(dispatches), next };
}

/** The order of bytes in hexadecimal is the order of bytes. */
function keyOf({ envelope, taskDir, dispatchId }: DispatchListing): string {
  const place = envelope === null ? 'damaged' : (envelope.startedAt ?? '0 none');
  return `${place} ${Buffer.from(taskDir).toString('hex')} ${dispatchId}`;
}

function sortBy<Item>(items: readonly Item[], key: (item: Item) => string): Item[] {
  return items.toSorted((one, other) => (key(one) < key(other) ? -1 : 1));
}

/** The errors of damaged dispatches keep their class. */
function structuredCloneOf(listings: readonly DispatchListing[]): DispatchListing[] {
  return listings.map((listing) => ({ ...listing, envelope: structuredClone(listing.envelope) }));
}
