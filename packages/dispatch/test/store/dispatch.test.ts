import { type Dispatch, openDispatchStore } from '@hansard/dispatch';
import type { NewEvent } from '@hansard/events';
import { createMemoryStore } from '@hansard/store-memory';
import { ManualClock, startOfTest } from '@hansard/testing';
import { describe, expect, it } from 'vitest';
import { changedStore } from '../support/changed-store.ts';
import { codeOf } from '../support/code-of.ts';
import { Gate } from '../support/gate.ts';
import { begin, say, task, write } from '../support/route-models.ts';

describe('a dispatch that begins', () => {
  it('has an envelope with minted id and time, the task as slug, and null for what is not known', async () => {
    const clock = new ManualClock();
    const store = openDispatchStore(createMemoryStore(), { clock, createId: () => 'ID-1' });
    const { envelope } = await store.beginDispatch(task, { role: 'worker', cwd: '/work' });
    expect(envelope).toEqual({
      dispatchId: 'ID-1',
      taskSlug: 'route-models',
      role: 'worker',
      title: null,
      model: null,
      cwd: '/work',
      startedAt: '2026-03-01T09:00:00.000Z',
      completedAt: null,
      status: 'running',
      ended: null,
      cost: null,
      usage: null,
      models: null,
      periods: null,
      prices: null,
      openCalls: null,
      folded: null,
      source: null,
      structuredResult: null,
      parentDispatchId: null,
      botId: null,
      fidelity: 'narrative',
      schemaVersion: 1,
    });
    expect(await store.getDispatchEnvelopes(task)).toEqual([envelope]);
  });

  it('gets a ULID that sorts by time', async () => {
    const clock = new ManualClock();
    const store = openDispatchStore(createMemoryStore(), { clock });
    const { dispatchId: first } = await begin(store);
    clock.advance(-5);
    const { dispatchId: second } = await begin(store);
    expect(first).toMatch(/^[0-9A-HJKMNP-TV-Z]{26}$/);
    expect(second > first).toBe(true);
  });

  it('is refused where its task would leave the root or its role is empty', async () => {
    const store = openDispatchStore(createMemoryStore());
    expect(await codeOf(store.beginDispatch('../x', { role: 'worker' }))).toBe('STORE_INVALID_PATH');
    expect(await codeOf(store.beginDispatch(task, { role: '' }))).toBe('EVENT_ENVELOPE_INVALID');
  });
});

describe('a change of an envelope', () => {
  it('gives the changed envelope, leaves absent keys alone and writes null', async () => {
    const store = openDispatchStore(createMemoryStore());
    const dispatch = await begin(store);
    await dispatch.update({ model: 'm', cwd: '/work' });
    const changes = { model: undefined, cwd: null } as unknown as { cwd: null };
    expect(await dispatch.update(changes)).toMatchObject({ model: 'm', cwd: null });
  });

  it('is refused for the identity, for what JSON cannot hold, and for a dispatch that does not exist', async () => {
    const store = openDispatchStore(createMemoryStore());
    const dispatch = await begin(store);
    const identity = { dispatchId: 'other' } as object;
    expect(await codeOf(dispatch.update(identity))).toBe('EVENT_ENVELOPE_INVALID');
    const unknownKey = { newer: Number.NaN } as object;
    expect(await codeOf(dispatch.update(unknownKey))).toBe('EVENT_ENVELOPE_INVALID');
    await dispatch.release();
    await store.deleteDispatch(dispatch);
    const gone = store.openDispatch(task, dispatch.dispatchId, { write: true });
    expect(await codeOf(gone)).toBe('STORE_DISPATCH_NOT_FOUND');
  });
});

describe('a dispatch that was ended, released or abandoned', () => {
  const leavings: Readonly<Record<string, (dispatch: Dispatch) => unknown>> = {
    ended: (dispatch) => dispatch.end({ status: 'completed' }),
    released: (dispatch) => dispatch.release(),
    abandoned: (dispatch) => dispatch.abandon(),
  };

  it.each(Object.keys(leavings))('takes no writes when it was %s, until it is opened again', async (way) => {
    const store = openDispatchStore(createMemoryStore());
    const dispatch = await begin(store);
    await dispatch.append(say('a'));
    await leavings[way]?.(dispatch);
    expect(await codeOf(dispatch.append(say('b')))).toBe('STORE_LOCKED');
    expect(await codeOf(dispatch.append([say('b')]))).toBe('STORE_LOCKED');
    expect(() => dispatch.accept([say('b')])).toThrow(expect.objectContaining({ code: 'STORE_LOCKED' }));
    expect(await codeOf(dispatch.as('agent_002').append(say('b')))).toBe('STORE_LOCKED');
    expect(await codeOf(dispatch.update({ model: 'm' }))).toBe('STORE_LOCKED');
    expect(await codeOf(dispatch.end({ status: 'completed' }))).toBe('STORE_LOCKED');
    await dispatch.release();
    dispatch.abandon();
    expect(await dispatch.count()).toBe(1);

    const again = await store.openDispatch(task, dispatch.dispatchId, write);
    await again.append(say('b'));
    expect(await dispatch.count()).toBe(2);
    // The object that is done has no say in what the new one does.
    await dispatch[Symbol.asyncDispose]();
    await again.append(say('c'));
  });

  it('keeps the status that it had when it is released, also when nobody waits for that', async () => {
    const gate = new Gate();
    const order: string[] = [];
    const provider = changedStore((store) => ({
      async releaseDispatch(taskDir, dispatchId) {
        await gate.opened;
        store.releaseDispatch(taskDir, dispatchId);
        order.push('released');
      },
    }));
    const store = openDispatchStore(provider);
    const dispatch = await begin(store);
    void dispatch.release();
    const second = dispatch.release().then(() => order.push('second release done'));
    await expect(store.openDispatch(task, dispatch.dispatchId, write)).rejects.toMatchObject({
      code: 'STORE_LOCKED',
    });
    gate.open();
    await second;
    expect(order).toEqual(['released', 'second release done']);
    const again = await store.openDispatch(task, dispatch.dispatchId, write);
    expect(again.envelope.status).toBe('running');
    expect(await again.count()).toBe(0);
  });

  it('is not given back to the store when it is abandoned, as if the process had died', async () => {
    let releases = 0;
    const provider = changedStore((store) => ({
      releaseDispatch(taskDir, dispatchId) {
        releases += 1;
        return store.releaseDispatch(taskDir, dispatchId);
      },
    }));
    const store = openDispatchStore(provider);
    const dispatch = await begin(store);
    dispatch.abandon();
    await dispatch.release();
    await dispatch[Symbol.asyncDispose]();
    expect(releases).toBe(0);
    expect(await dispatch.refresh()).toMatchObject({ status: 'running' });
    expect(await dispatch.count()).toBe(0);
  });

  it('has the time of its end from the clock, or from the caller', async () => {
    const clock = new ManualClock();
    const store = openDispatchStore(createMemoryStore(), { clock });
    const now = () => startOfTest - 60_000;
    const byClock = await begin(store);
    const byWriter = await store.beginDispatch(task, { role: 'worker' }, { now });
    const stated = await begin(store);
    clock.advance(5_000);
    const event = await byWriter.append(say('recorded'));
    expect(event.timestamp).toBe('2026-03-01T08:59:00.000Z');
    expect(byWriter.envelope.startedAt).toBe('2026-03-01T08:59:00.000Z');
    expect(await byClock.end({ status: 'completed' })).toMatchObject({
      status: 'completed',
      completedAt: '2026-03-01T09:00:05.000Z',
    });
    expect((await byWriter.end({ status: 'completed' })).completedAt).toBe('2026-03-01T08:59:00.000Z');
    const completedAt = '2026-03-01T09:00:01.000Z';
    expect(await stated.end({ status: 'crashed', completedAt, cost: 1 })).toMatchObject({
      status: 'crashed',
      completedAt,
      cost: 1,
    });
  });

  it('takes no writes from the call of its end on, though the store is slow to complete it', async () => {
    const gate = new Gate();
    const provider = changedStore((store) => ({
      async updateDispatch(taskDir, dispatchId, updates) {
        await gate.opened;
        return store.updateDispatch(taskDir, dispatchId, updates);
      },
    }));
    const dispatch = await begin(openDispatchStore(provider));
    const ending = dispatch.end({ status: 'completed' });
    expect(await codeOf(dispatch.append(say('too late')))).toBe('STORE_LOCKED');
    expect(await codeOf(dispatch.end({ status: 'crashed' }))).toBe('STORE_LOCKED');
    gate.open();
    expect(await ending).toMatchObject({ status: 'completed' });
    expect(await dispatch.count()).toBe(0);
  });

  it('is still open for writing where its end was refused or failed', async () => {
    let failures = 1;
    const provider = changedStore((store) => ({
      updateDispatch(taskDir, dispatchId, updates) {
        if (updates.status !== undefined && failures-- > 0) throw new Error('disk full');
        return store.updateDispatch(taskDir, dispatchId, updates);
      },
    }));
    const dispatch = await begin(openDispatchStore(provider));
    const wrong = { status: 'over' } as never;
    expect(await codeOf(dispatch.end(wrong))).toBe('EVENT_ENVELOPE_INVALID');
    await expect(dispatch.end({ status: 'completed' })).rejects.toThrow('disk full');
    await dispatch.append(say('still here'));
    expect(await dispatch.end({ status: 'completed' })).toMatchObject({ status: 'completed' });
  });

  it('takes a late event when it is opened again, and stays ended', async () => {
    const store = openDispatchStore(createMemoryStore());
    const dispatch = await begin(store);
    const ended = await dispatch.end({ status: 'completed' });
    {
      await using late = await store.openDispatch(task, dispatch.dispatchId, write);
      await late.append(say('a verdict'));
    }
    expect(await dispatch.refresh()).toEqual(ended);
    expect(await dispatch.count()).toBe(1);
  });
});

describe('the agents and workers of a dispatch', () => {
  it('append under their own names, one event or many, checked as all are', async () => {
    const store = openDispatchStore(createMemoryStore());
    const dispatch = await begin(store);
    const agent = dispatch.as('agent_002');
    expect(agent.agentId).toBe('agent_002');
    const one = await agent.append(say('one'));
    const many = await agent.append([say('two'), { ...say('three'), agentId: 'agent_009' }]);
    await dispatch.append(say('the dispatched agent'));
    expect([one, ...many].map(({ agentId }) => agentId)).toEqual(['agent_002', 'agent_002', 'agent_002']);
    const stored = await store.getDispatchEvents(task, dispatch.dispatchId);
    expect(stored.slice(0, 3)).toEqual([one, ...many]);
    expect(stored[3]).not.toHaveProperty('agentId');
    const wrong = { type: 'agent:text', data: {} } as NewEvent;
    expect(await codeOf(agent.append([say('four'), wrong]))).toBe('EVENT_INVALID');
    expect(await dispatch.count()).toBe(4);
  });

  it('are children: dispatches of their own in the same task, written beside their parent', async () => {
    const store = openDispatchStore(createMemoryStore());
    const parent = await begin(store);
    const child = await parent.beginChild({ role: 'scout', fidelity: 'full' }, { owner: 'a scout' });
    const named = await parent.beginChild({ role: 'scout', parentDispatchId: 'somebody else' });
    expect(child).toMatchObject({ taskDir: task, owner: 'a scout' });
    expect(child.envelope).toMatchObject({
      role: 'scout',
      fidelity: 'full',
      status: 'running',
      parentDispatchId: parent.dispatchId,
    });
    expect(named.envelope.parentDispatchId).toBe(parent.dispatchId);
    await Promise.all([parent.append(say('go')), child.append(say('gone'))]);
    await child.end({ status: 'completed' });
    await parent.append(say('the parent is still open'));
    expect(await parent.count()).toBe(2);
    expect(await child.count()).toBe(1);
  });
});
