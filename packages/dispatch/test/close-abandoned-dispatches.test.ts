import { closeAbandonedDispatches, openDispatchStore, startDispatch } from '@hansard/dispatch';
import { type DispatchStoreProvider, StoreError } from '@hansard/provider';
import { createMemoryStore } from '@hansard/store-memory';
import { describe, expect, it } from 'vitest';
import { changedStore } from './changed-store.ts';
import { Gate } from './gate.ts';
import { ManualClock } from './manual-clock.ts';
import { agent, says } from './scripted-agent.ts';

const taskDir = 'lab/tasks/route-models';

/** A store in which a process that is gone left a finished dispatch and two running ones. */
async function leftBehind(provider: DispatchStoreProvider = createMemoryStore()) {
  const gone = openDispatchStore(provider);
  for (const dispatchId of ['done', 'lost-1', 'lost-2'])
    await gone.createDispatch(taskDir, { role: 'worker', dispatchId });
  await gone.updateDispatch(taskDir, 'done', { status: 'completed' });
  return openDispatchStore(provider, { clock: new ManualClock() });
}

describe('dispatches that a dead process left running', () => {
  it('become crashed, with an event that says so; the others stay as they are', async () => {
    const store = await leftBehind();
    const closed = await closeAbandonedDispatches(store, taskDir);
    expect(closed).toMatchObject([
      { dispatchId: 'lost-1', status: 'crashed', completedAt: '2026-03-01T09:00:00.000Z' },
      { dispatchId: 'lost-2', status: 'crashed' },
    ]);
    expect(await store.getDispatchEvents(taskDir, 'lost-1')).toMatchObject([
      { type: 'harness:error', data: { message: expect.stringContaining('process') } },
    ]);
    expect(await store.getDispatchEnvelope(taskDir, 'done')).toMatchObject({ status: 'completed' });
    expect(await store.getDispatchEvents(taskDir, 'done')).toEqual([]);
    expect(await closeAbandonedDispatches(store, taskDir)).toEqual([]);
  });

  it('are told from those that run in this process', async () => {
    const store = await leftBehind();
    const gate = new Gate();
    const waiting = agent(async function* () {
      await gate.opened;
      yield says('still here');
    });
    const run = await startDispatch({ store, taskDir, role: 'worker', dispatchId: 'alive', agent: waiting });
    const closed = await closeAbandonedDispatches(store, taskDir);
    expect(closed.map(({ dispatchId }) => dispatchId)).toEqual(['lost-1', 'lost-2']);
    gate.open();
    expect((await run.ended).status).toBe('completed');
  });

  it('are told from those that this process is just creating', async () => {
    const gate = new Gate();
    const provider = changedStore((store) => ({
      async createDispatch(task, envelope) {
        await store.createDispatch(task, envelope);
        if (envelope.dispatchId === 'new') await gate.opened;
      },
    }));
    const store = await leftBehind(provider);
    const creating = store.createDispatch(taskDir, { role: 'worker', dispatchId: 'new' });
    const closed = await closeAbandonedDispatches(store, taskDir);
    gate.open();
    await creating;
    expect(closed.map(({ dispatchId }) => dispatchId)).toEqual(['lost-1', 'lost-2']);
  });

  it('are found also where this process failed to create one of that name', async () => {
    const store = await leftBehind();
    const again = store.createDispatch(taskDir, { role: 'worker', dispatchId: 'lost-1' });
    await expect(again).rejects.toMatchObject({ code: 'STORE_DISPATCH_EXISTS' });
    expect(await closeAbandonedDispatches(store, taskDir)).toHaveLength(2);
  });

  it('are left alone where their writer lives elsewhere', async () => {
    const provider = changedStore((store) => ({
      appendEvent(task, dispatchId, event) {
        if (dispatchId === 'lost-1') throw new StoreError('STORE_LOCKED', 'process 7 on host writes it');
        return store.appendEvent(task, dispatchId, event);
      },
    }));
    const store = await leftBehind(provider);
    const closed = await closeAbandonedDispatches(store, taskDir);
    expect(closed.map(({ dispatchId }) => dispatchId)).toEqual(['lost-2']);
    expect(await store.getDispatchEnvelope(taskDir, 'lost-1')).toMatchObject({ status: 'running' });
  });

  it('are left alone where they ended after they were listed', async () => {
    const provider = changedStore((store) => ({
      async getDispatchEnvelopes(task) {
        const listed = await store.getDispatchEnvelopes(task);
        await store.updateDispatch(task, 'lost-1', { status: 'completed' });
        return listed;
      },
    }));
    const store = await leftBehind(provider);
    expect(await closeAbandonedDispatches(store, taskDir)).toHaveLength(1);
    expect(await store.getDispatchEvents(taskDir, 'lost-1')).toEqual([]);
  });

  it('are not passed over in silence where the store fails', async () => {
    const provider = changedStore(() => ({
      appendEvent() {
        throw new StoreError('STORE_UNAVAILABLE', 'disk full');
      },
    }));
    const store = await leftBehind(provider);
    await expect(closeAbandonedDispatches(store, taskDir)).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
    });
  });
});
