import { openDispatchStore } from '@hansard/dispatch';
import type { CapturedEvent, ClaimState, DispatchVerification, ReadEventsOptions } from '@hansard/provider';
import { createMemoryStore } from '@hansard/store-memory';
import { describe, expect, it } from 'vitest';
import { changedStore } from '../support/changed-store.ts';
import { begin, say, task, write } from '../support/route-models.ts';

const damage = { place: 'a file', offset: 40, bytes: 12, eventsBefore: 1, reason: 'changed bytes' };

/** A store with checksums that finds these numbers of lost events. */
function damagedStore(...lost: readonly (number | null)[]) {
  const notices: CapturedEvent[] = [];
  const reads: ReadEventsOptions[] = [];
  const found: DispatchVerification = {
    integrity: 'checksum',
    wholeEvents: 2,
    bytes: 300,
    damages: lost.map((lostEvents) => ({ ...damage, lostEvents })),
  };
  const provider = changedStore((store) => ({
    capabilities: { ...store.capabilities, integrity: 'checksum' },
    readEvents(taskDir, dispatchId, options = {}) {
      reads.push(options);
      return store.readEvents(taskDir, dispatchId, options);
    },
    verifyDispatch: () => found,
    acceptLoss(_taskDir, _dispatchId, notice) {
      notices.push(notice);
      return found;
    },
  }));
  return { store: openDispatchStore(provider), notices, reads, found };
}

describe('a damaged dispatch', () => {
  it('is verified by its store', async () => {
    const { store, found } = damagedStore(3);
    const { dispatchId } = await begin(store);
    expect(await store.verifyDispatch({ taskDir: task, dispatchId })).toEqual(found);
  });

  it.each([
    [[1, 2], 3],
    [[1, null], null],
    [[], 0],
  ])('with %j lost events gets a notice that counts %j', async (lost, lostEvents) => {
    const { store, notices, found } = damagedStore(...lost);
    const dispatch = await begin(store);
    await dispatch.release();
    expect(await store.acceptLoss(dispatch)).toEqual(found);
    expect(notices).toMatchObject([
      { type: 'system:notice', data: { wholeEvents: 2, lostEvents, damages: found.damages } },
    ]);
    expect(notices[0]?.id).toMatch(/^[0-9A-Z]{26}$/);
  });

  it('loses nothing while an object of this store writes it', async () => {
    const { store, notices } = damagedStore(1);
    const dispatch = await begin(store);
    await expect(store.acceptLoss(dispatch)).rejects.toMatchObject({ code: 'STORE_LOCKED' });
    expect(notices).toEqual([]);
    await dispatch.append(say('still mine'));
  });

  it('is read without its damaged events only on request', async () => {
    const { store, reads } = damagedStore(1);
    const { dispatchId } = await begin(store);
    for (const access of [{}, { skipDamaged: true }]) {
      const log = await store.openDispatch(task, dispatchId, access);
      for await (const _ of log.events()) expect.fail('an event');
      await log.last(0);
    }
    expect(reads.map(({ skipDamaged }) => skipDamaged)).toEqual([undefined, undefined, true, true]);
  });

  it('cannot be verified or repaired in a store without checksums', async () => {
    const store = openDispatchStore(createMemoryStore());
    const dispatch = await begin(store);
    await dispatch.release();
    const refusal = { code: 'STORE_UNSUPPORTED', details: { capability: 'integrity' } };
    await expect(store.verifyDispatch(dispatch)).rejects.toMatchObject(refusal);
    await expect(store.acceptLoss(dispatch)).rejects.toMatchObject(refusal);
  });
});

describe('the claim of a dispatch', () => {
  it('of an object of this program is known in a store with one writer, and cannot be broken', async () => {
    const store = openDispatchStore(createMemoryStore());
    const { dispatchId, release } = await begin(store).then((dispatch) => ({
      dispatchId: dispatch.dispatchId,
      release: () => dispatch.release(),
    }));
    const reference = { taskDir: task, dispatchId };
    expect(await store.findClaim(reference)).toEqual({
      owner: `a program of this process (${process.pid})`,
      isOwn: true,
      state: 'running',
      expiresInMs: null,
    });
    const claims = () => store.findClaims(task, ['none', dispatchId]);
    expect(await claims()).toEqual([null, await store.findClaim(reference)]);
    await release();
    expect(await store.findClaim(reference)).toBeNull();
    expect(await claims()).toEqual([null, null]);
    await expect(store.breakClaim(reference)).rejects.toMatchObject({ code: 'STORE_UNSUPPORTED' });
    await expect(store.findClaim({ taskDir: task, dispatchId: 'none' })).rejects.toMatchObject({
      code: 'STORE_DISPATCH_NOT_FOUND',
    });
  });

  it('comes from a store with several writers, and is broken there', async () => {
    const broken: string[] = [];
    const claim: ClaimState = { owner: 'process 1 on a', isOwn: false, state: 'unknown', expiresInMs: 900 };
    const provider = changedStore((store) => ({
      capabilities: { ...store.capabilities, writers: 'dispatch' },
      findClaim: () => claim,
      findClaims: (_, ids) => ids.map((id) => ({ ...claim, owner: id })),
      breakClaim: (_taskDir, dispatchId) => void broken.push(dispatchId),
    }));
    const store = openDispatchStore(provider);
    const dispatch = await begin(store);
    await expect(store.breakClaim(dispatch)).rejects.toMatchObject({ code: 'STORE_LOCKED' });
    await dispatch.release();
    expect(await store.findClaim(dispatch)).toEqual(claim);
    const owners = (await store.findClaims(task, ['b', 'a'])).map((one) => one?.owner);
    expect(owners).toEqual(['b', 'a']);
    await store.breakClaim(dispatch);
    expect(broken).toEqual([dispatch.dispatchId]);
    await (await store.openDispatch(dispatch, write)).release();
  });

  it('is STORE_UNSUPPORTED for a store with several writers that cannot say who has claimed what', async () => {
    const provider = changedStore((store) => ({
      capabilities: { ...store.capabilities, writers: 'dispatch' },
    }));
    const store = openDispatchStore(provider);
    const dispatch = await begin(store);
    for (const claims of [store.findClaim(dispatch), store.findClaims(task, [])])
      await expect(claims).rejects.toMatchObject({ code: 'STORE_UNSUPPORTED' });
  });
});
