import assert from 'node:assert/strict';
import { setTimeout } from 'node:timers/promises';
import type { ClaimState } from '@hansard/provider';
import { createChangeListener } from '../../checks/change-listener.ts';
import { sameContent } from '../../checks/expectations.ts';
import {
  beginDispatch,
  claim,
  dispatchId,
  holdsEvents,
  late,
  optionalMethod,
  taskDir,
} from '../../checks/prepared-store.ts';
import { sampleEvent } from '../../checks/sample-data.ts';
import { startProcess } from '../../processes/store-process.ts';
import { caseFamily } from '../../run/conformance-case.ts';
import { codeOf, leaseOf, prepareFree } from './other-process.ts';

const needs = ['durability', 'writers'] as const;

/** `findClaim` and `breakClaim` of what another process has claimed. */
export const seenClaimCases = caseFamily('processes', [
  {
    name: 'claim-seen',
    rule: 6,
    title:
      'findClaim shows the claim of another process with its process id, and null after that process was killed or released it',
    needs,
    run: async (context) => {
      const findClaim = optionalMethod(context.store, 'findClaim');
      await prepareFree(context);
      const child = await startProcess(context);
      await child.call('claimDispatch', taskDir, dispatchId);
      isForeign(await findClaim(taskDir, dispatchId), child.pid, ['running', 'unknown'], context.leaseMs);
      const [listed = null] = await optionalMethod(context.store, 'findClaims')(taskDir, [dispatchId]);
      isForeign(listed, child.pid, ['running', 'unknown'], context.leaseMs);
      await child.call('releaseDispatch', taskDir, dispatchId);
      sameContent(await findClaim(taskDir, dispatchId), null, 'findClaim after the release');
      await child.call('claimDispatch', taskDir, dispatchId);
      await child.kill();
      const state = (await findClaim(taskDir, dispatchId))?.state ?? 'expired';
      sameContent(state, 'expired', 'the state after the owner was killed');
    },
  },
  {
    name: 'broken-by-another',
    rule: 6,
    title:
      'a process whose claim was broken by another one writes nothing, and the other one can claim at once',
    needs,
    run: async (context) => {
      const { store } = context;
      const breakClaim = optionalMethod(store, 'breakClaim');
      await prepareFree(context);
      const child = await startProcess(context);
      await child.call('claimDispatch', taskDir, dispatchId);
      const own = sampleEvent('of-the-owner');
      sameContent(
        codeOf(await child.call('appendEvent', taskDir, dispatchId, own)),
        null,
        'an append of the owner',
      );
      await breakClaim(taskDir, dispatchId);
      await claim(store);
      for (const [method, argument] of [
        ['appendEvent', sampleEvent('too-late')],
        ['appendEvents', [sampleEvent('too-late')]],
        ['updateDispatch', { cost: 1 }],
        ['claimDispatch', undefined],
      ] as const)
        sameContent(
          codeOf(await child.call(method, taskDir, dispatchId, argument)),
          'STORE_LOCKED',
          `${method} of the former owner`,
        );
      await store.appendEvent(taskDir, dispatchId, late);
      await holdsEvents(store, [own, late]);
    },
  },
  {
    name: 'stopped-claim-expires',
    rule: 6,
    title: 'findClaim says when the claim of a stopped process expires, and it expires then',
    needs,
    run: async (context) => {
      const { store } = context;
      const findClaim = optionalMethod(store, 'findClaim');
      const leaseMs = leaseOf(context);
      await prepareFree(context);
      const child = await startProcess(context);
      await child.call('claimDispatch', taskDir, dispatchId);
      child.signal('SIGSTOP');
      const start = performance.now();
      let state: ClaimState | null = await findClaim(taskDir, dispatchId);
      while (state?.state !== 'expired' && performance.now() - start < 5 * leaseMs + 3_000) {
        isForeign(state, child.pid, ['running', 'unknown'], leaseMs);
        await setTimeout(leaseMs / 10);
        state = await findClaim(taskDir, dispatchId);
      }
      isForeign(state, child.pid, ['expired'], leaseMs);
      await claim(store);
      await store.appendEvent(taskDir, dispatchId, late);
    },
  },
]);

function isForeign(
  claimed: ClaimState | null,
  pid: number,
  states: readonly ClaimState['state'][],
  leaseMs = Number.POSITIVE_INFINITY,
): void {
  const { owner = '', isOwn, state, expiresInMs } = claimed ?? {};
  assert.ok(owner.includes(String(pid)), `the owner is “${owner}”, not process ${pid}`);
  assert.equal(isOwn, false, 'isOwn of the claim of another process');
  assert.ok(
    state !== undefined && states.includes(state),
    `the state is ${state}, expected ${states.join(' or ')}`,
  );
  if (state !== 'unknown') assert.equal(expiresInMs, null, `expiresInMs of a claim that is ${state}`);
  else
    assert.ok(
      Number(expiresInMs) > 0 && Number(expiresInMs) <= leaseMs + 1,
      `it expires in ${expiresInMs} ms, with a lease of ${leaseMs}`,
    );
}

/** `watch` of what another process changes. */
export const watchedCases = caseFamily('processes', [
  {
    name: 'watched',
    rule: 6,
    title: 'listeners of a dispatch, a task and the whole store are called for an append of another process',
    needs: ['watch', 'durability', 'writers'],
    run: async (context) => {
      const { store } = context;
      await beginDispatch(store);
      await store.releaseDispatch(taskDir, dispatchId);
      const child = await startProcess(context);
      sameContent(codeOf(await child.call('claimDispatch', taskDir, dispatchId)), null, 'the claim');
      for (const [index, scope] of [{ taskDir, dispatchId }, { taskDir }, {}].entries()) {
        const listener = createChangeListener();
        const stop = await optionalMethod(store, 'watch')(scope, listener.listen);
        const reply = await child.call('appendEvent', taskDir, dispatchId, sampleEvent(`event-${index}`));
        sameContent(codeOf(reply), null, 'an append of the other process');
        await listener.calledUntil(`for the scope ${JSON.stringify(scope)}`, async () => {
          const events = await store.getDispatchEvents(taskDir, dispatchId);
          return events.length === index + 1;
        });
        stop();
      }
    },
  },
]);
