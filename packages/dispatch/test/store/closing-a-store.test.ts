import { openDispatchStore } from '@hansard/dispatch';
import { newEvent } from '@hansard/events';
import { createDispatch } from '@hansard/testing';
import { describe, expect, it } from 'vitest';
import { changedStore } from '../support/changed-store.ts';
import { codeOf } from '../support/code-of.ts';
import { Gate, turn } from '../support/gate.ts';
import { aborted, task, twice } from './left-dispatch.ts';

const write = { write: true } as const;

describe('closing a store', () => {
  it('aborts all dispatches that it writes, children included, and does not change the others', async () => {
    const { store, after, left } = twice();
    const parent = await store.beginDispatch(task, { role: 'lead' });
    const child = await parent.beginChild({ role: 'worker' });
    const elsewhere = await store.beginDispatch('lab/tasks/other', { role: 'worker' });
    const { dispatchId: idle } = await createDispatch(after, task, { role: 'worker' });
    await store.close();
    for (const { dispatchId } of [parent, child]) expect((await left(dispatchId)).events).toEqual([aborted]);
    expect(await after.getDispatchEnvelope('lab/tasks/other', elsewhere.dispatchId)).toMatchObject({
      status: 'aborted',
    });
    expect(await left(idle)).toMatchObject({ envelope: { status: 'running' }, events: [] });
  });

  it('closes the provider after all that, releases included', async () => {
    const order: string[] = [];
    const gate = new Gate();
    const provider = changedStore((inner) => ({
      async updateDispatch(taskDir, dispatchId, updates) {
        order.push(`${updates.status}`);
        return inner.updateDispatch(taskDir, dispatchId, updates);
      },
      async releaseDispatch(taskDir, dispatchId) {
        await gate.opened;
        inner.releaseDispatch(taskDir, dispatchId);
        order.push('released');
      },
      close() {
        order.push('closed');
      },
    }));
    const store = openDispatchStore(provider);
    await store.beginDispatch(task, { role: 'worker' });
    const dispatch = await store.beginDispatch(task, { role: 'worker' });
    const releasing = dispatch.release();
    await turn();
    const closing = store.close();
    await turn();
    expect(order).toEqual(['aborted']);
    gate.open();
    await Promise.all([releasing, closing]);
    expect(order).toEqual(['aborted', 'released', 'released', 'closed']);
  });

  it('aborts a dispatch whose beginning is under way, and releases one that is being claimed', async () => {
    const gate = new Gate();
    const { store, after, left } = twice(
      changedStore((inner) => ({
        async createDispatch(taskDir, envelope) {
          if (envelope.dispatchId === 'begun') await gate.opened;
          inner.createDispatch(taskDir, envelope);
        },
        async claimDispatch(taskDir, dispatchId) {
          await gate.opened;
          return inner.claimDispatch(taskDir, dispatchId);
        },
      })),
    );
    await createDispatch(after, task, { role: 'worker', dispatchId: 'claimed' });
    const beginning = store.beginDispatch(task, { role: 'worker', dispatchId: 'begun' });
    const claiming = store.openDispatch(task, 'claimed', write);
    const closing = store.close();
    await turn();
    gate.open();
    const [begun, claimed] = await Promise.all([beginning, claiming, closing]);
    expect(await left('begun')).toMatchObject({ envelope: { status: 'aborted' }, events: [aborted] });
    expect(await left('claimed')).toMatchObject({ envelope: { status: 'running' }, events: [] });
    for (const dispatch of [begun, claimed])
      expect(await codeOf(dispatch.append(newEvent('agent:text', { text: 'a' })))).toBe('STORE_CLOSED');
    await (await after.openDispatch(task, 'begun', write)).release();
  });

  it('succeeds where the beginning that is under way fails', async () => {
    const gate = new Gate();
    const provider = changedStore(() => ({
      async createDispatch() {
        await gate.opened;
        throw new Error('the disk is full');
      },
    }));
    const store = openDispatchStore(provider);
    const beginning = store.beginDispatch(task, { role: 'worker' });
    const closing = store.close();
    gate.open();
    await expect(beginning).rejects.toThrow('the disk is full');
    await closing;
  });
});
