import type {
  Awaitable,
  ClaimState,
  DispatchClaim,
  DispatchStoreProvider,
  DispatchVerification,
} from '@hansard/provider';
import type { CapabilityFlag } from '../run/conformance-case.ts';
import { refuses, sameContent } from './expectations.ts';
import { dispatchId, holdsEvents, optionalMethod, prepared, remainsOf, taskDir } from './prepared-store.ts';
import { sampleEnvelope, sampleEvent, sampleTask } from './sample-data.ts';

/** One operation of a store, from which every family about operations has a case. */
export interface StoreOperation {
  /** Part of the ids of its cases. */
  readonly name: string;
  readonly method: string;
  readonly needs: readonly CapabilityFlag[];
  /** The arguments that name a task or a dispatch. */
  readonly takes: 'taskDir and dispatchId' | 'taskDir' | 'nothing';
  /** The answer for a missing dispatch: STORE_DISPATCH_NOT_FOUND, a value, or the operation creates it. */
  readonly whenMissing: 'refused' | 'creates' | { readonly answer: unknown };
  /** Whether it is refused for a dispatch that is not claimed. */
  readonly needsClaim?: boolean;
  call(store: DispatchStoreProvider, taskDir: string, dispatchId: string): Awaitable<unknown>;
  /** Checks the answer and the effect of the call on a prepared store. */
  verify(answer: unknown, store: DispatchStoreProvider): Promise<void>;
}

const added = sampleEvent('added');
const addedToo = sampleEvent('added-too');
const changedTask = sampleTask('route-models', { status: 'done' });
const newDispatch = sampleEnvelope('01JQ00000000000000000000BB');

/** The operations of a store with `writers: 'dispatch'`. */
const claimOperations: readonly StoreOperation[] = [
  {
    name: 'find-claim',
    method: 'findClaim',
    needs: ['writers'],
    takes: 'taskDir and dispatchId',
    whenMissing: 'refused',
    needsClaim: true,
    call: (store, task, dispatch) => optionalMethod(store, 'findClaim')(task, dispatch),
    verify: async (answer) => {
      const { isOwn, state, expiresInMs } = (answer ?? {}) as Partial<ClaimState>;
      const expected = { isOwn: true, state: 'running', expiresInMs: null };
      sameContent({ isOwn, state, expiresInMs }, expected, 'findClaim of an own claim');
    },
  },
  {
    name: 'find-claims',
    method: 'findClaims',
    needs: ['writers'],
    takes: 'taskDir and dispatchId',
    whenMissing: { answer: [null] },
    needsClaim: true,
    call: (store, task, dispatch) => optionalMethod(store, 'findClaims')(task, [dispatch]),
    verify: async (answer) => {
      const claims = (answer as (ClaimState | null)[]).map((claim) => claim?.isOwn);
      sameContent(claims, [true], 'findClaims of an own claim');
    },
  },
  {
    name: 'break-claim',
    method: 'breakClaim',
    needs: ['writers'],
    takes: 'taskDir and dispatchId',
    whenMissing: 'refused',
    call: async (store, task, dispatch) => {
      const breakClaim = optionalMethod(store, 'breakClaim');
      await store.releaseDispatch(task, dispatch);
      await breakClaim(task, dispatch);
    },
    verify: async (_, store) => {
      sameContent(await store.getDispatchEnvelopes(taskDir), [prepared.envelope], 'getDispatchEnvelopes');
      await holdsEvents(store, prepared.events);
    },
  },
];

/** The operations of a store with `integrity: 'checksum'`. */
const integrityOperations: readonly StoreOperation[] = [
  {
    name: 'verify-dispatch',
    method: 'verifyDispatch',
    needs: ['integrity'],
    takes: 'taskDir and dispatchId',
    whenMissing: 'refused',
    call: (store, task, dispatch) => optionalMethod(store, 'verifyDispatch')(task, dispatch),
    verify: async (answer) => {
      const { bytes, ...rest } = answer as DispatchVerification;
      sameContent(rest, { integrity: 'checksum', wholeEvents: 3, damages: [] }, 'verifyDispatch');
      sameContent(bytes > 0, true, `a number of bytes above 0 (${bytes})`);
    },
  },
  {
    name: 'accept-loss',
    method: 'acceptLoss',
    needs: ['integrity'],
    takes: 'taskDir and dispatchId',
    whenMissing: 'refused',
    call: (store, task, dispatch) =>
      optionalMethod(store, 'acceptLoss')(task, dispatch, sampleEvent('notice')),
    verify: async (answer, store) => {
      sameContent((answer as DispatchVerification).damages, [], 'the damages of a whole dispatch');
      await holdsEvents(store, prepared.events);
    },
  },
];

/** Every operation of a store but `close`. */
export const storeOperations: readonly StoreOperation[] = [
  {
    name: 'create-dispatch',
    method: 'createDispatch',
    needs: [],
    takes: 'taskDir and dispatchId',
    whenMissing: 'creates',
    // The prepared dispatch already exists, so another one is created instead.
    call: (store, task, dispatch) =>
      store.createDispatch(task, dispatch === dispatchId ? newDispatch : sampleEnvelope(dispatch)),
    verify: async (_, store) =>
      sameContent(
        await store.getDispatchEnvelopes(taskDir),
        [prepared.envelope, newDispatch],
        'getDispatchEnvelopes',
      ),
  },
  {
    name: 'claim-dispatch',
    method: 'claimDispatch',
    needs: [],
    takes: 'taskDir and dispatchId',
    whenMissing: 'refused',
    call: (store, task, dispatch) => store.claimDispatch(task, dispatch),
    verify: async (answer, store) => {
      sameContent((answer as DispatchClaim).envelope, prepared.envelope, 'the envelope of claimDispatch');
      await store.appendEvent(taskDir, dispatchId, added);
      await holdsEvents(store, [...prepared.events, added]);
    },
  },
  {
    name: 'release-dispatch',
    method: 'releaseDispatch',
    needs: [],
    takes: 'taskDir and dispatchId',
    whenMissing: { answer: null },
    call: async (store, task, dispatch) => {
      await store.releaseDispatch(task, dispatch);
      return null;
    },
    verify: (_, store) =>
      refuses('STORE_LOCKED', 'appendEvent after the release', () =>
        store.appendEvent(taskDir, dispatchId, added),
      ),
  },
  {
    name: 'update-dispatch',
    method: 'updateDispatch',
    needs: [],
    takes: 'taskDir and dispatchId',
    whenMissing: 'refused',
    needsClaim: true,
    call: (store, task, dispatch) =>
      store.updateDispatch(task, dispatch, { status: 'completed', cost: 0.25 }),
    verify: async (answer, store) => {
      const expected = { ...prepared.envelope, status: 'completed', cost: 0.25 };
      sameContent(answer, expected, 'updateDispatch');
      sameContent(await store.getDispatchEnvelope(taskDir, dispatchId), expected, 'getDispatchEnvelope');
    },
  },
  {
    name: 'append-event',
    method: 'appendEvent',
    needs: [],
    takes: 'taskDir and dispatchId',
    whenMissing: 'refused',
    needsClaim: true,
    call: (store, task, dispatch) => store.appendEvent(task, dispatch, added),
    verify: (_, store) => holdsEvents(store, [...prepared.events, added]),
  },
  {
    name: 'append-events',
    method: 'appendEvents',
    needs: [],
    takes: 'taskDir and dispatchId',
    whenMissing: 'refused',
    needsClaim: true,
    call: (store, task, dispatch) => store.appendEvents(task, dispatch, [added, addedToo]),
    verify: (_, store) => holdsEvents(store, [...prepared.events, added, addedToo]),
  },
  {
    name: 'get-dispatch-envelopes',
    method: 'getDispatchEnvelopes',
    needs: [],
    takes: 'taskDir',
    whenMissing: { answer: [] },
    call: (store, task) => store.getDispatchEnvelopes(task),
    verify: async (answer) => sameContent(answer, [prepared.envelope], 'getDispatchEnvelopes'),
  },
  {
    name: 'list-dispatches',
    method: 'listDispatches',
    needs: [],
    takes: 'taskDir',
    whenMissing: { answer: { dispatches: [], next: null } },
    call: (store, task) => store.listDispatches({ taskDir: task }),
    verify: async (answer) => {
      const { envelope, events } = prepared;
      const lastActiveAt = events.at(-1)?.timestamp ?? null;
      const dispatches = [{ taskDir, dispatchId, envelope, lastActiveAt }];
      sameContent(answer, { dispatches, next: null }, 'listDispatches');
    },
  },
  {
    name: 'get-dispatch-envelope',
    method: 'getDispatchEnvelope',
    needs: [],
    takes: 'taskDir and dispatchId',
    whenMissing: { answer: null },
    call: (store, task, dispatch) => store.getDispatchEnvelope(task, dispatch),
    verify: async (answer) => sameContent(answer, prepared.envelope, 'getDispatchEnvelope'),
  },
  {
    name: 'get-dispatch-events',
    method: 'getDispatchEvents',
    needs: [],
    takes: 'taskDir and dispatchId',
    whenMissing: 'refused',
    call: (store, task, dispatch) => store.getDispatchEvents(task, dispatch),
    verify: async (answer) => sameContent(answer, prepared.events, 'getDispatchEvents'),
  },
  {
    name: 'get-recent-events',
    method: 'getRecentEvents',
    needs: [],
    takes: 'taskDir and dispatchId',
    whenMissing: 'refused',
    call: (store, task, dispatch) => store.getRecentEvents(task, dispatch, 2),
    verify: async (answer) => sameContent(answer, prepared.events.slice(1), 'getRecentEvents'),
  },
  {
    name: 'read-events',
    method: 'readEvents',
    needs: [],
    takes: 'taskDir and dispatchId',
    whenMissing: 'refused',
    call: (store, task, dispatch) => store.readEvents(task, dispatch),
    verify: async (answer) =>
      sameContent(answer, { events: prepared.events, first: 0, next: 2 }, 'readEvents'),
  },
  {
    name: 'put-task',
    method: 'putTask',
    needs: [],
    takes: 'taskDir',
    whenMissing: 'creates',
    call: (store, task) => store.putTask(task, changedTask),
    verify: async (_, store) => sameContent(await store.findTask(taskDir), changedTask, 'findTask'),
  },
  {
    name: 'find-task',
    method: 'findTask',
    needs: [],
    takes: 'taskDir',
    whenMissing: { answer: null },
    call: (store, task) => store.findTask(task),
    verify: async (answer) => sameContent(answer, prepared.task, 'findTask'),
  },
  {
    name: 'list-tasks',
    method: 'listTasks',
    needs: [],
    takes: 'nothing',
    whenMissing: { answer: [] },
    call: (store) => store.listTasks(),
    verify: async (answer) => sameContent(answer, [{ taskDir, task: prepared.task }], 'listTasks'),
  },
  {
    name: 'get-repairs',
    method: 'getRepairs',
    needs: [],
    takes: 'nothing',
    whenMissing: { answer: [] },
    call: (store) => store.getRepairs?.() ?? [],
    verify: async (answer) => sameContent(answer, [], 'getRepairs'),
  },
  {
    name: 'search-events',
    method: 'searchEvents',
    needs: ['search'],
    takes: 'taskDir',
    whenMissing: { answer: [] },
    call: (store, task) => optionalMethod(store, 'searchEvents')('text', { taskDir: task }),
    verify: async (answer) =>
      sameContent(
        answer,
        prepared.events.map((event, position) => ({ taskDir, dispatchId, position, event })),
        'searchEvents',
      ),
  },
  {
    name: 'watch',
    method: 'watch',
    needs: ['watch'],
    takes: 'taskDir and dispatchId',
    whenMissing: 'refused',
    call: async (store, task, dispatch) => {
      const stop = await optionalMethod(store, 'watch')({ taskDir: task, dispatchId: dispatch }, () => {});
      stop();
      return typeof stop;
    },
    verify: async (answer) => sameContent(answer, 'function', 'what watch gives back'),
  },
  {
    name: 'delete-dispatch',
    method: 'deleteDispatch',
    needs: ['deleteDispatch'],
    takes: 'taskDir and dispatchId',
    whenMissing: 'refused',
    call: (store, task, dispatch) => optionalMethod(store, 'deleteDispatch')(task, dispatch),
    verify: async (_, store) =>
      sameContent(await store.getDispatchEnvelopes(taskDir), [], 'getDispatchEnvelopes'),
  },
  {
    name: 'rewrite-dispatch',
    method: 'rewriteDispatch',
    needs: ['rewrite'],
    takes: 'taskDir and dispatchId',
    whenMissing: 'refused',
    call: (store, task, dispatch) =>
      optionalMethod(store, 'rewriteDispatch')(task, dispatch, {
        envelope: (envelope) => envelope,
        event: (event) => event,
        notice: () => added,
      }),
    verify: (_, store) => holdsEvents(store, [...prepared.events, added]),
  },
  {
    name: 'remove-remains',
    method: 'removeRemains',
    needs: ['rewrite'],
    takes: 'nothing',
    whenMissing: { answer: null },
    call: async (store) => {
      await remainsOf(store);
      return null;
    },
    verify: (_, store) => holdsEvents(store, prepared.events),
  },
  ...claimOperations,
  ...integrityOperations,
];
