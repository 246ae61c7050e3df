import { closeAbandonedDispatches, openDispatchStore, startDispatch } from '@hansard/dispatch';
import { type EventData, type NewEvent, newEvent } from '@hansard/events';
import { type DispatchStoreProvider, type StoreError, storeErrors } from '@hansard/provider';
import { createMemoryStore } from '@hansard/store-memory';
import { appendEvent, createDispatch, ManualClock, updateDispatch } from '@hansard/testing';
import { describe, expect, it } from 'vitest';
import { changedStore } from '../support/changed-store.ts';
import { Gate } from '../support/gate.ts';
import { agent, says } from '../support/scripted-agent.ts';

const taskDir = 'lab/tasks/route-models';

/** A store in which a process that is gone left a finished dispatch and two running ones. */
async function leftBehind(provider: DispatchStoreProvider = createMemoryStore()) {
  const gone = openDispatchStore(provider);
  for (const dispatchId of ['done', 'lost-1', 'lost-2'])
    await createDispatch(gone, taskDir, { role: 'worker', dispatchId });
  await updateDispatch(gone, taskDir, 'done', { status: 'completed' });
  return openDispatchStore(provider, { clock: new ManualClock() });
}

describe('dispatches that a process left running when it exited', () => {
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

  it('are reported with the time to wait if their owner cannot be checked, and closed after it', async () => {
    let state: 'unknown' | 'expired' = 'unknown';
    let asked = 0;
    const provider = changedStore((store) => ({
      capabilities: { ...store.capabilities, writers: 'dispatch' },
      findClaims: (_, dispatchIds) => {
        asked += 1;
        return dispatchIds.map(() => ({
          owner: 'process 7 on another host',
          isOwn: false,
          state,
          expiresInMs: state === 'unknown' ? 700 : null,
        }));
      },
    }));
    const store = await leftBehind(provider);
    const waits: [string, number][] = [];
    const look = () =>
      closeAbandonedDispatches(store, taskDir, {
        onUnchecked: ({ dispatchId }, ms) => waits.push([dispatchId, ms]),
      });
    expect(await look()).toEqual([]);
    expect(waits).toEqual([
      ['lost-1', 700],
      ['lost-2', 700],
    ]);
    state = 'expired';
    expect((await look()).map(({ dispatchId }) => dispatchId)).toEqual(['lost-1', 'lost-2']);
    expect(waits).toHaveLength(2);
    expect(asked).toBe(2);
  });

  it('are not those of an imported session, which stays running', async () => {
    const store = await leftBehind();
    await using imported = await store.beginDispatch(taskDir, {
      role: 'worker',
      source: { format: 'a-log', files: [] },
    });
    await imported.release();
    const closed = await closeAbandonedDispatches(store, taskDir);
    expect(closed.map(({ dispatchId }) => dispatchId)).toEqual(['lost-1', 'lost-2']);
    expect(await store.getDispatchEnvelope(taskDir, imported.dispatchId)).toMatchObject({
      status: 'running',
    });
  });

  it('are distinguished from those that run in this process', async () => {
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

  it('are distinguished from those that this process is creating', async () => {
    const gate = new Gate();
    const provider = changedStore((store) => ({
      async createDispatch(task, envelope) {
        await store.createDispatch(task, envelope);
        if (envelope.dispatchId === 'new') await gate.opened;
      },
    }));
    const store = await leftBehind(provider);
    const creating = createDispatch(store, taskDir, { role: 'worker', dispatchId: 'new' });
    const closed = await closeAbandonedDispatches(store, taskDir);
    gate.open();
    await creating;
    expect(closed.map(({ dispatchId }) => dispatchId)).toEqual(['lost-1', 'lost-2']);
  });

  it('are found even if this process failed to create one of that name', async () => {
    const store = await leftBehind();
    const again = createDispatch(store, taskDir, { role: 'worker', dispatchId: 'lost-1' });
    await expect(again).rejects.toMatchObject({ code: 'STORE_DISPATCH_EXISTS' });
    expect(await closeAbandonedDispatches(store, taskDir)).toHaveLength(2);
  });

  it('are found even if this process could not end them, once its store works again', async () => {
    let isFull = true;
    const provider = changedStore((store) => ({
      appendEvent(task, dispatchId, event) {
        if (isFull) throw storeErrors.error('STORE_UNAVAILABLE', 'disk full');
        return store.appendEvent(task, dispatchId, event);
      },
    }));
    const store = openDispatchStore(provider);
    const waiting = agent(async function* () {
      yield says('does not fit');
    });
    const run = await startDispatch({ store, taskDir, role: 'worker', dispatchId: 'full', agent: waiting });
    await expect(run.ended).rejects.toThrow('disk full');
    isFull = false;
    expect(await closeAbandonedDispatches(store, taskDir)).toMatchObject([
      { dispatchId: 'full', status: 'crashed' },
    ]);
    expect(await closeAbandonedDispatches(store, taskDir)).toEqual([]);
  });

  it('are ended once where two start-ups of this process find them at the same time', async () => {
    const store = await leftBehind();
    const closed = await Promise.all([
      closeAbandonedDispatches(store, taskDir),
      closeAbandonedDispatches(store, taskDir),
    ]);
    expect(closed.flat()).toHaveLength(2);
    for (const dispatchId of ['lost-1', 'lost-2'])
      expect(await store.getDispatchEvents(taskDir, dispatchId)).toHaveLength(1);
  });

  it('are unchanged if their writer runs in another process', async () => {
    let isElsewhere = false;
    const provider = changedStore((store) => ({
      claimDispatch(task, dispatchId) {
        if (isElsewhere && dispatchId === 'lost-1')
          throw storeErrors.error('STORE_LOCKED', 'process 7 on host writes it');
        return store.claimDispatch(task, dispatchId);
      },
      readEvents(task, dispatchId, options) {
        if (dispatchId === 'lost-1') throw new Error('its log is long, and its writer lives');
        return store.readEvents(task, dispatchId, options);
      },
    }));
    const store = await leftBehind(provider);
    isElsewhere = true;
    const closed = await closeAbandonedDispatches(store, taskDir);
    expect(closed.map(({ dispatchId }) => dispatchId)).toEqual(['lost-2']);
    expect(await store.getDispatchEnvelope(taskDir, 'lost-1')).toMatchObject({ status: 'running' });
    expect(await provider.getDispatchEvents(taskDir, 'lost-1')).toEqual([]);
  });

  it('are left alone where they ended after they were listed', async () => {
    const provider = changedStore((store) => ({
      async listDispatches(options) {
        const listed = await store.listDispatches(options);
        await store.claimDispatch(taskDir, 'lost-1');
        await store.updateDispatch(taskDir, 'lost-1', { status: 'completed' });
        await store.releaseDispatch(taskDir, 'lost-1');
        return listed;
      },
    }));
    const store = await leftBehind(provider);
    expect(await closeAbandonedDispatches(store, taskDir)).toHaveLength(1);
    expect(await store.getDispatchEvents(taskDir, 'lost-1')).toEqual([]);
  });

  it('are ended beside one that cannot be read, which is reported, or fails where nobody takes the report', async () => {
    const unreadable = storeErrors.error('STORE_CORRUPT', 'lost-1 is damaged');
    const provider = changedStore((store) => ({
      async listDispatches(options) {
        const { dispatches, next } = await store.listDispatches(options);
        return {
          dispatches: dispatches.map((listing) =>
            listing.dispatchId === 'lost-1'
              ? { ...listing, envelope: null, lastActiveAt: null, error: unreadable }
              : listing,
          ),
          next,
        };
      },
    }));
    const store = await leftBehind(provider);
    await expect(closeAbandonedDispatches(store, taskDir)).rejects.toBe(unreadable);
    const reported: unknown[] = [];
    const onUnreadable = (error: StoreError) => void reported.push(error);
    const closed = await closeAbandonedDispatches(store, taskDir, { onUnreadable });
    expect(closed.map(({ dispatchId }) => dispatchId)).toEqual(['lost-2']);
    expect(reported).toEqual([unreadable]);
    expect(await store.getDispatchEnvelope(taskDir, 'lost-1')).toMatchObject({ status: 'running' });
  });

  it('are not skipped in silence where the store fails', async () => {
    const provider = changedStore(() => ({
      appendEvent() {
        throw storeErrors.error('STORE_UNAVAILABLE', 'disk full');
      },
    }));
    const store = await leftBehind(provider);
    await expect(closeAbandonedDispatches(store, taskDir)).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
    });
  });
});

const complete = (
  status: EventData<'session:complete'>['status'],
  more: Partial<EventData<'session:complete'>> = {},
) => newEvent('session:complete', { status, ...more });
const text = newEvent('agent:text', { text: 'working' });
const message = newEvent('user:message', { text: 'Go on.', source: { kind: 'user' } });
const abort = newEvent('harness:abort', { by: 'signal' });
const error = newEvent('harness:error', { message: 'The hook is broken.' });
const init = newEvent('session:init', { model: 'm', sessionId: 's' });
const files = newEvent('system:files_persisted', {});
const interrupted = newEvent('user:message', {
  text: '[Request interrupted by user]',
  source: { kind: 'system' },
});
const told = newEvent('user:message', { text: 'The task is done.', source: { kind: 'system' } });
const started = newEvent('system:task_started', { task_id: 'a1', is_backgrounded: true });
const over = newEvent('system:task_notification', { task_id: 'a1', status: 'stopped' });

/** The result for a dispatch that was left running with these events, one a second. */
async function closedWith(events: readonly NewEvent[]) {
  const provider = createMemoryStore();
  const clock = new ManualClock();
  const gone = openDispatchStore(provider, { clock });
  await createDispatch(gone, taskDir, { role: 'worker', dispatchId: 'lost' });
  for (const event of events) {
    clock.advance(1_000);
    await appendEvent(gone, taskDir, 'lost', event);
  }
  const store = openDispatchStore(provider, { clock });
  clock.advance(60_000);
  const [envelope] = await closeAbandonedDispatches(store, taskDir);
  const added = (await store.getDispatchEvents(taskDir, 'lost')).slice(events.length);
  return { envelope, added };
}

describe('a dispatch that is still running after its own end', () => {
  it.each([
    ['completed', 'completed'],
    ['failed', 'crashed'],
    ['aborted', 'aborted'],
  ] as const)('whose log says %s is %s since then, with what the log says of it', async (said, status) => {
    const usage = { inputTokens: 10, outputTokens: 2 };
    const more = { costUsd: 0.5, usage, turns: 2, durationMs: 900, structuredResult: [1] };
    const { envelope, added } = await closedWith([text, complete(said, more)]);
    expect(envelope).toMatchObject({
      status,
      completedAt: '2026-03-01T09:00:02.000Z',
      cost: 0.5,
      usage: { ...usage, turns: 2, durationMs: 900 },
      structuredResult: [1],
    });
    expect(added).toEqual([]);
  });

  it.each([
    ['what it left behind is noted', [complete('completed'), files], 'completed'],
    [
      'it was asked more and answered that, too',
      [complete('failed'), message, text, complete('completed')],
      'completed',
    ],
    ['it was stopped', [text, abort], 'aborted'],
    ['it took too long', [newEvent('harness:timeout', { elapsedMs: 2, limitMs: 1 }), text], 'aborted'],
    [
      'it went in circles',
      [newEvent('harness:loop_kill', { tool: 'Read', count: 8, limit: 8, window: 10 })],
      'aborted',
    ],
    ['it was asked more and stopped then', [complete('completed'), message, abort, text], 'aborted'],
    ['it was silent', [newEvent('harness:stall', { idleMs: 2, limitMs: 1 })], 'aborted'],
    ['it says that it was done after it was stopped', [abort, init, text, complete('completed')], 'aborted'],
    ['it failed while it was stopped', [abort, error], 'aborted'],
    ['its engine notes that it was stopped', [text, abort, text, interrupted], 'aborted'],
    ['it was stopped behind an earlier end', [complete('completed'), abort, text], 'aborted'],
    ['nothing is in the background any more', [started, complete('completed'), over], 'completed'],
    ['it was stopped with a task in the background', [started, complete('completed'), abort], 'aborted'],
  ] as const)('even if %s', async (_what, events, status) => {
    const { envelope, added } = await closedWith(events);
    const last = `2026-03-01T09:00:0${events.length}.000Z`;
    expect(envelope).toMatchObject({ status, completedAt: last });
    expect(added).toEqual([]);
  });

  it.each([
    ['it was asked more', [complete('completed', { costUsd: 0.5 }), message]],
    ['it did more', [complete('completed', { costUsd: 0.5 }), text]],
    ['it began anew', [complete('completed', { costUsd: 0.5 }), init]],
    ['it heard of a task in the background', [complete('completed', { costUsd: 0.5 }), told]],
    ['a task went on in the background', [text, started, complete('completed', { costUsd: 0.5 })]],
    ['an error came after it', [complete('completed', { costUsd: 0.5 }), error]],
    ['it went on after it was stopped', [complete('aborted', { costUsd: 0.5 }), abort, message]],
    ['it was stopped and asked more', [complete('completed', { costUsd: 0.5 }), message, abort, message]],
    ['it was stopped, ended and went on', [abort, complete('aborted', { costUsd: 0.5 }), text]],
  ] as const)('has crashed all the same where %s, and has cost what the log says', async (_what, events) => {
    const { envelope, added } = await closedWith(events);
    expect(added).toMatchObject([{ type: 'harness:error' }]);
    expect(envelope).toMatchObject({ status: 'crashed', completedAt: added[0]?.timestamp, cost: 0.5 });
  });
});
