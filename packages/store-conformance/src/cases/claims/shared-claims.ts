import assert from 'node:assert/strict';
import { type DispatchStoreProvider, storeErrors } from '@hansard/provider';
import {
  claim,
  claimedWrites,
  endedEnvelope,
  late,
  release,
  takesNoWrite,
} from '../../checks/claim-checks.ts';
import { errorsOf, refuses, sameContent } from '../../checks/expectations.ts';
import {
  beginDispatch,
  dispatchId,
  holdsEvents,
  optionalMethod,
  prepared,
  taskDir,
} from '../../checks/prepared-store.ts';
import { sampleEnvelope, sampleEvent } from '../../checks/sample-data.ts';
import { caseFamily } from '../../run/conformance-case.ts';

/** One store opened twice at the same time, in one process. */
export const sharedClaimCases = caseFamily('claims', [
  {
    name: 'second-claim-refused',
    rule: 6,
    title: 'a claim of a dispatch that another opening has claimed is STORE_LOCKED and names the owner',
    needs: ['durability', 'writers'],
    run: async ({ store, openBeside }) => {
      const second = await openBeside();
      await beginDispatch(store, prepared.events);
      await refusesClaim(second, 'of a dispatch that another opening created');
      await store.updateDispatch(taskDir, dispatchId, { status: 'completed' });
      await refusesClaim(second, 'of an ended dispatch that is not released');
      await release(store);
      await claim(second);
      await refusesClaim(store, 'of a dispatch that another opening claimed');
      await takesNoWrite(store, 'after another opening claimed it');
      await second.appendEvent(taskDir, dispatchId, late);
      await holdsEvents(store, [...prepared.events, late]);
    },
  },
  {
    name: 'writes-refused-beside',
    rule: 6,
    title:
      'no opening writes to a dispatch that another one has claimed, and an attempt does not change its claim',
    needs: ['durability', 'writers'],
    run: async ({ store, openBeside }) => {
      const second = await openBeside();
      await beginDispatch(store, prepared.events);
      await takesNoWrite(second, 'of a second opening');
      await release(second);
      await store.appendEvent(taskDir, dispatchId, late);
      await holdsEvents(second, [...prepared.events, late]);
    },
  },
  {
    name: 'passes-on-and-back',
    rule: 6,
    title: 'a dispatch passes from one opening to another and back, with the events of both',
    needs: ['durability', 'writers'],
    run: async ({ store, openBeside }) => {
      const second = await openBeside();
      await beginDispatch(store, prepared.events);
      await release(store);
      const expected = [...prepared.events];
      for (const [turn, opening] of [second, store, second, store].entries()) {
        const { envelope } = await opening.claimDispatch(taskDir, dispatchId);
        sameContent(envelope, { ...prepared.envelope, cost: turn === 0 ? null : turn - 1 }, 'claimDispatch');
        const event = sampleEvent(`turn-${turn}`);
        await opening.appendEvent(taskDir, dispatchId, event);
        await opening.updateDispatch(taskDir, dispatchId, { cost: turn });
        await release(opening);
        expected.push(event);
        await holdsEvents(store, expected);
        await holdsEvents(second, expected);
      }
    },
  },
  {
    name: 'free-after-close',
    rule: 6,
    title: 'closing a store releases a running dispatch, an ended one and one that it only claimed',
    needs: ['durability', 'writers'],
    run: async ({ store, openBeside }) => {
      const second = await openBeside();
      for (const id of ['RUNNING', 'ENDED']) await store.createDispatch(taskDir, sampleEnvelope(id));
      await store.appendEvent(taskDir, 'RUNNING', late);
      await store.updateDispatch(taskDir, 'ENDED', { status: 'completed' });
      await store.createDispatch(taskDir, sampleEnvelope('CLAIMED', { status: 'completed' }));
      await store.claimDispatch(taskDir, 'CLAIMED');
      await store.close();
      for (const id of ['RUNNING', 'ENDED', 'CLAIMED']) {
        await second.claimDispatch(taskDir, id);
        await second.appendEvent(taskDir, id, sampleEvent('later'));
      }
    },
  },
  {
    name: 'claimed-at-once',
    rule: 6,
    title: 'of two openings that claim a dispatch at the same time, exactly one succeeds',
    needs: ['durability', 'writers'],
    run: async ({ store, openBeside }) => {
      const second = await openBeside();
      await store.createDispatch(taskDir, endedEnvelope);
      const errors = await errorsOf([() => claim(store), () => claim(second)]);
      assert.equal(errors.length, 1, `${errors.length} of two claims failed, expected one`);
      await refuses('STORE_LOCKED', 'the claim that lost', () => Promise.reject(errors[0]));
      const appends = await errorsOf([
        () => claimedWrites.appendEvent(store),
        () => claimedWrites.appendEvent(second),
      ]);
      assert.equal(appends.length, 1, `${appends.length} of two appends failed, expected one`);
    },
  },
  {
    name: 'not-deleted-beside',
    rule: 6,
    title: 'deleting a dispatch that another opening has claimed is STORE_LOCKED, until it is released',
    needs: ['durability', 'writers', 'deleteDispatch'],
    run: async ({ store, openBeside }) => {
      const second = await openBeside();
      await beginDispatch(store, prepared.events);
      const remove = optionalMethod(second, 'deleteDispatch');
      await refuses('STORE_LOCKED', 'deleteDispatch', () => remove(taskDir, dispatchId));
      await release(store);
      await remove(taskDir, dispatchId);
      await refuses('STORE_DISPATCH_NOT_FOUND', 'claimDispatch', () => claim(store));
      await refuses('STORE_DISPATCH_NOT_FOUND', 'appendEvent', () => claimedWrites.appendEvent(store));
    },
  },
]);

/** Fails unless the claim is refused with a message that names this process. */
async function refusesClaim(store: DispatchStoreProvider, state: string): Promise<void> {
  const [error] = await errorsOf([() => claim(store)]);
  await refuses('STORE_LOCKED', `claimDispatch ${state}`, () => Promise.reject(error));
  const message = storeErrors.is(error) ? error.message : '';
  assert.ok(message.includes(String(process.pid)), `“${message}” does not name the owner: its process id`);
}
