import { isDeepStrictEqual } from 'node:util';
import {
  assertDispatchId,
  assertTaskDir,
  type CapturedEvent,
  type DispatchEnvelope,
  type DispatchListing,
  type DispatchRewrite,
  type DispatchStoreProvider,
  type EnvelopeUpdates,
  type ListDispatchesOptions,
  type ReadEventsOptions,
  type StoreError,
  storeErrors,
  type TaskRecord,
} from '@hansard/provider';
import { modelPage } from './model-page.ts';

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

export const emptyModelData = (): ModelData => ({ tasks: new Map(), dispatches: new Map() });

/** Every dispatch, in any order. */
export function listModel({ dispatches }: ModelData): DispatchListing[] {
  return [...dispatches].flatMap(([taskDir, ofTask]) =>
    [...ofTask].map(([dispatchId, { envelope, events }]) => {
      const lastActiveAt = events.at(-1)?.timestamp ?? envelope.startedAt;
      return { taskDir, dispatchId, envelope, lastActiveAt };
    }),
  );
}

/**
 * The contract as the simplest code: lists that are searched from the front, and deep copies of all arguments and results.
 * The answers of a store are compared with its answers.
 */
export function createModelStore(data: ModelData = emptyModelData()) {
  const claimed = new Set<ModelDispatch>();
  let closed = false;

  const fail = (code: StoreError['code']): never => {
    throw storeErrors.error(code, 'The model refused this.');
  };
  const enter = (taskDir?: string, dispatchId?: string) => {
    if (closed) fail('STORE_CLOSED');
    if (taskDir !== undefined) assertTaskDir(taskDir);
    if (dispatchId !== undefined) assertDispatchId(dispatchId);
  };
  const find = (taskDir: string, dispatchId: string): ModelDispatch => {
    enter(taskDir, dispatchId);
    return data.dispatches.get(taskDir)?.get(dispatchId) ?? fail('STORE_DISPATCH_NOT_FOUND');
  };
  const findClaimed = (taskDir: string, dispatchId: string): ModelDispatch => {
    const dispatch = find(taskDir, dispatchId);
    return claimed.has(dispatch) ? dispatch : fail('STORE_LOCKED');
  };

  const append = (taskDir: string, dispatchId: string, events: readonly CapturedEvent[]) => {
    const dispatch = findClaimed(taskDir, dispatchId);
    const next = new Map(dispatch.events.map((event) => [event.id, event]));
    for (const event of events) {
      const copy = JSON.parse(JSON.stringify(event)) as CapturedEvent;
      const stored = next.get(copy.id);
      if (stored === undefined) next.set(copy.id, copy);
      else if (!isDeepStrictEqual(stored, copy)) fail('STORE_EVENT_CONFLICT');
    }
    dispatch.events = [...next.values()];
    return events.map((event) => dispatch.events.findIndex(({ id }) => id === event.id));
  };

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
    createDispatch(taskDir: string, envelope: DispatchEnvelope) {
      enter(taskDir, envelope.dispatchId);
      const dispatches = data.dispatches.get(taskDir) ?? new Map<string, ModelDispatch>();
      if (dispatches.has(envelope.dispatchId)) fail('STORE_DISPATCH_EXISTS');
      const epoch = envelope.status === 'running' ? 1 : 0;
      const dispatch: ModelDispatch = { envelope: structuredClone(envelope), events: [], epoch };
      dispatches.set(envelope.dispatchId, dispatch);
      data.dispatches.set(taskDir, dispatches);
      if (envelope.status === 'running') claimed.add(dispatch);
    },
    claimDispatch(taskDir: string, dispatchId: string) {
      const dispatch = find(taskDir, dispatchId);
      if (!claimed.has(dispatch)) dispatch.epoch += 1;
      claimed.add(dispatch);
      return { envelope: structuredClone(dispatch.envelope), epoch: dispatch.epoch };
    },
    releaseDispatch(taskDir: string, dispatchId: string) {
      enter(taskDir, dispatchId);
      const dispatch = data.dispatches.get(taskDir)?.get(dispatchId);
      if (dispatch !== undefined) claimed.delete(dispatch);
    },
    updateDispatch(taskDir: string, dispatchId: string, updates: EnvelopeUpdates) {
      const dispatch = findClaimed(taskDir, dispatchId);
      dispatch.envelope = { ...dispatch.envelope, ...structuredClone(updates) };
      return structuredClone(dispatch.envelope);
    },
    appendEvent(taskDir: string, dispatchId: string, event: CapturedEvent) {
      return append(taskDir, dispatchId, [event])[0] as number;
    },
    appendEvents: append,
    getDispatchEnvelopes(taskDir: string) {
      enter(taskDir);
      const envelopes = [...(data.dispatches.get(taskDir)?.values() ?? [])].map(({ envelope }) => envelope);
      const key = ({ startedAt, dispatchId }: DispatchEnvelope) => `${startedAt} ${dispatchId}`;
      return structuredClone(envelopes.sort((one, other) => (key(one) < key(other) ? -1 : 1)));
    },
    listDispatches(options: ListDispatchesOptions = {}) {
      enter(options.taskDir);
      return modelPage(listModel(data), options, fail);
    },
    getDispatchEnvelope(taskDir: string, dispatchId: string) {
      enter(taskDir, dispatchId);
      return structuredClone(data.dispatches.get(taskDir)?.get(dispatchId)?.envelope ?? null);
    },
    getDispatchEvents(taskDir: string, dispatchId: string) {
      return structuredClone(find(taskDir, dispatchId).events);
    },
    getRecentEvents(taskDir: string, dispatchId: string, count: number) {
      const { events } = find(taskDir, dispatchId);
      return structuredClone(events.slice(Math.max(0, events.length - count)));
    },
    readEvents(
      taskDir: string,
      dispatchId: string,
      { after = -1, limit = 1_000, last }: ReadEventsOptions = {},
    ) {
      const { events } = find(taskDir, dispatchId);
      if (last !== undefined) {
        const first = Math.max(0, events.length - last);
        return { events: structuredClone(events.slice(first)), first, next: events.length - 1 };
      }
      if (after >= events.length) fail('STORE_INVALID_CURSOR');
      const page = structuredClone(events.slice(after + 1, after + 1 + limit));
      return { events: page, first: after + 1, next: after + page.length };
    },
    putTask(taskDir: string, task: TaskRecord) {
      enter(taskDir);
      data.tasks.set(taskDir, structuredClone(task));
    },
    getTask(taskDir: string) {
      enter(taskDir);
      return structuredClone(data.tasks.get(taskDir) ?? null);
    },
    listTasks() {
      enter();
      const withDispatch = [...data.dispatches].filter(([, dispatches]) => dispatches.size > 0);
      const names = new Set([...data.tasks.keys(), ...withDispatch.map(([taskDir]) => taskDir)]);
      return [...names]
        .sort()
        .map((taskDir) => ({ taskDir, task: structuredClone(data.tasks.get(taskDir) ?? null) }));
    },
    deleteDispatch(taskDir: string, dispatchId: string) {
      find(taskDir, dispatchId);
      data.dispatches.get(taskDir)?.delete(dispatchId);
    },
    rewriteDispatch(taskDir: string, dispatchId: string, { envelope, event, notice }: DispatchRewrite) {
      const dispatch = find(taskDir, dispatchId);
      const next = structuredClone(envelope(structuredClone(dispatch.envelope)));
      const events = structuredClone(dispatch.events).map(event);
      dispatch.events = structuredClone([...events, notice()]);
      dispatch.envelope = next;
      return { remains: [] };
    },
    close() {
      closed = true;
    },
  } satisfies DispatchStoreProvider;
}
