import { openDispatchStore } from '@hansard/dispatch';
import { createMemoryStore } from '@hansard/store-memory';
import { describe, expect, it } from 'vitest';
import { changedStore } from '../support/changed-store.ts';
import { codeOf } from '../support/code-of.ts';
import { Gate } from '../support/gate.ts';
import { begin, say, task, write } from '../support/route-models.ts';

describe('the writer of a dispatch', () => {
  it('is one object of a process at a time; a second one is refused, with the name of the owner', async () => {
    const store = openDispatchStore(createMemoryStore());
    const dispatch = await store.beginDispatch(task, { role: 'worker' }, { owner: 'a session' });
    const { dispatchId } = dispatch;
    expect(dispatch.owner).toBe('a session');
    const second = store.openDispatch(task, dispatchId, { write: true, owner: 'a run' });
    await expect(second).rejects.toMatchObject({
      code: 'STORE_LOCKED',
      message: expect.stringContaining('a session'),
      details: { taskDir: task, dispatchId, owner: 'a session' },
    });
    await dispatch.append(say('still mine'));
    await dispatch.release();

    const third = await store.openDispatch(task, dispatchId, { write: true, owner: 'a run' });
    await expect(store.openDispatch(task, dispatchId, write)).rejects.toThrow('a run');
    await third.release();
    const unnamed = await store.openDispatch(task, dispatchId, write);
    await expect(store.openDispatch(task, dispatchId, write)).rejects.toThrow('a program');
    await unnamed.release();
  });

  it('is one of several that ask at the same time, also while the store is slow to give it', async () => {
    const gate = new Gate();
    const provider = changedStore((store) => ({
      async claimDispatch(taskDir, dispatchId) {
        await gate.opened;
        return store.claimDispatch(taskDir, dispatchId);
      },
    }));
    const store = openDispatchStore(provider);
    const { dispatchId, release } = await begin(store).then((dispatch) => ({
      dispatchId: dispatch.dispatchId,
      release: dispatch.release(),
    }));
    await release;
    const asked = [1, 2, 3].map(() => store.openDispatch(task, dispatchId, write));
    gate.open();
    const results = await Promise.allSettled(asked);
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected']);
  });

  it('can be claimed after a claim or a creation that failed', async () => {
    let isFull = false;
    const provider = changedStore((store) => ({
      createDispatch(taskDir, envelope) {
        if (isFull) throw new Error('disk full');
        return store.createDispatch(taskDir, envelope);
      },
      claimDispatch(taskDir, dispatchId) {
        if (isFull) throw new Error('disk full');
        return store.claimDispatch(taskDir, dispatchId);
      },
    }));
    const store = openDispatchStore(provider);
    await (await store.beginDispatch(task, { role: 'worker', dispatchId: 'D1' })).release();
    isFull = true;
    await expect(store.openDispatch(task, 'D1', write)).rejects.toThrow('disk full');
    await expect(store.beginDispatch(task, { role: 'worker', dispatchId: 'D2' })).rejects.toThrow(
      'disk full',
    );
    isFull = false;
    await store.openDispatch(task, 'D1', write);
    await store.beginDispatch(task, { role: 'worker', dispatchId: 'D2' });
  });

  it('does not limit readers, before, beside and after it', async () => {
    const store = openDispatchStore(createMemoryStore());
    const dispatch = await begin(store);
    const logs = await Promise.all([1, 2, 3].map(() => store.openDispatch(task, dispatch.dispatchId)));
    await dispatch.append(say('a'));
    for (const log of logs) expect(await log.count()).toBe(1);
    await dispatch.end({ status: 'completed' });
    for (const log of logs) expect(await log.refresh()).toMatchObject({ status: 'completed' });
  });

  it('moves to another opening of the store by release and claim, with all that was written', async () => {
    const provider = createMemoryStore();
    const one = openDispatchStore(provider);
    const two = openDispatchStore(provider);
    const first = await begin(one);
    await first.append(say('from the first'));
    await first.release();
    expect(first.envelope.status).toBe('running');

    await using second = await two.openDispatch(task, first.dispatchId, write);
    expect(second.envelope).toEqual(first.envelope);
    expect(await codeOf(first.append(say('too late')))).toBe('STORE_LOCKED');
    await second.append(say('from the second'));
    await second.end({ status: 'completed' });
    const texts = (await one.getDispatchEvents(task, first.dispatchId)).map(({ data }) => data.text);
    expect(texts).toEqual(['from the first', 'from the second']);
    expect(await first.refresh()).toMatchObject({ status: 'completed' });
  });
});
