import type { ClaimState, DispatchVerification } from '@hansard/provider';
import { sameContent } from './expectations.ts';
import { holdsEvents, optionalMethod, prepared, taskDir } from './prepared-store.ts';
import { sampleEvent } from './sample-data.ts';
import type { StoreOperation } from './store-operation.ts';

/** The operations of a store with `writers: 'dispatch'`. */
export const claimOperations: readonly StoreOperation[] = [
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
export const integrityOperations: readonly StoreOperation[] = [
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
