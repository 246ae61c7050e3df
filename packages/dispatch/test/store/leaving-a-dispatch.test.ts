import { createCommunicationHub, type Dispatch, openDispatchStore } from '@hansard/dispatch';
import { type NewEvent, newEvent } from '@hansard/events';
import { storeErrors } from '@hansard/provider';
import { createMemoryStore } from '@hansard/store-memory';
import { createDispatch, updateDispatch } from '@hansard/testing';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { changedStore } from '../support/changed-store.ts';
import { codeOf } from '../support/code-of.ts';
import { Gate, turn } from '../support/gate.ts';
import { gather } from '../support/stream-words.ts';
import { aborted, task, twice } from './left-dispatch.ts';

const write = { write: true } as const;

const say = (text: string): NewEvent => newEvent('agent:text', { text });
const call = (inputTokens: number, costUsd: number): NewEvent =>
  newEvent('agent:inference', { model: 'm', usage: { inputTokens, outputTokens: 1 }, costUsd });

function warnings() {
  return vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
}

afterEach(() => {
  vi.restoreAllMocks();
});

describe.each([
  ['its scope', (_store: AsyncDisposable, dispatch: Dispatch) => dispatch[Symbol.asyncDispose]()],
  ['the store', (store: AsyncDisposable) => store[Symbol.asyncDispose]()],
])('a dispatch that is left by closing %s', (_what, leave) => {
  it('is aborted where it was begun and runs, with the usage and cost that its events state', async () => {
    const { store, after, left } = twice();
    const dispatch = await store.beginDispatch(task, { role: 'worker' });
    await dispatch.append([say('a'), call(10, 0.25), call(100, 0.5)]);
    await leave(store, dispatch);
    const { envelope, events } = await left(dispatch.dispatchId);
    expect(events.slice(3)).toEqual([aborted]);
    expect(envelope).toMatchObject({
      status: 'aborted',
      completedAt: '2026-03-01T09:00:00.000Z',
      cost: 0.75,
      usage: { inputTokens: 110, outputTokens: 2 },
    });
    await (await after.openDispatch(task, dispatch.dispatchId, write)).release();
  });

  it('is aborted with the usage and cost of every page of a long log', async () => {
    const { store, left } = twice();
    const dispatch = await store.beginDispatch(task, { role: 'worker' });
    await dispatch.append(Array.from({ length: 2_500 }, () => call(2, 0.25)));
    await leave(store, dispatch);
    expect((await left(dispatch.dispatchId)).envelope).toMatchObject({
      status: 'aborted',
      cost: 625,
      usage: { inputTokens: 5_000, outputTokens: 2_500 },
    });
  });

  it('is aborted where it was resumed and runs, with what its earlier events state, too', async () => {
    const { store, after, left } = twice();
    const { dispatchId } = await createDispatch(after, task, { role: 'worker' });
    const before = await after.openDispatch(task, dispatchId, write);
    await before.append(call(10, 0.25));
    await before.end({ status: 'completed' });
    const dispatch = await store.openDispatch(task, dispatchId, write);
    await dispatch.update({ status: 'running', completedAt: null });
    await dispatch.append(call(100, 0.5));
    await leave(store, dispatch);
    const { envelope, events } = await left(dispatchId);
    expect(envelope).toMatchObject({ status: 'aborted', cost: 0.75, usage: { inputTokens: 110 } });
    expect(events.at(-1)).toEqual(aborted);
  });

  it('is only released where this object neither began nor resumed it, though it runs', async () => {
    const { store, after, left } = twice();
    const { dispatchId } = await createDispatch(after, task, { role: 'worker' });
    const dispatch = await store.openDispatch(task, dispatchId, write);
    await dispatch.append(say('a'));
    await leave(store, dispatch);
    expect(await left(dispatchId)).toMatchObject({
      envelope: { status: 'running', completedAt: null },
      events: [['agent:text', 'a']],
    });
  });

  it('is not changed after its end, including when it was opened for a verdict', async () => {
    const { store, after, left } = twice();
    const dispatch = await store.beginDispatch(task, { role: 'worker' });
    const ended = await dispatch.end({ status: 'completed' });
    const { dispatchId } = await createDispatch(after, task, { role: 'worker' });
    await updateDispatch(after, task, dispatchId, { status: 'crashed' });
    const late = await store.openDispatch(task, dispatchId, write);
    await late.append(say('a verdict'));
    await leave(store, dispatch);
    await leave(store, late);
    expect(await left(dispatch.dispatchId)).toEqual({ envelope: ended, events: [] });
    expect(await left(dispatchId)).toMatchObject({
      envelope: { status: 'crashed', completedAt: null },
      events: [['agent:text', 'a verdict']],
    });
  });

  it('is left as it is where its envelope was completed by an update, or it was released', async () => {
    const { store, left } = twice();
    const completed = await store.beginDispatch(task, { role: 'worker' });
    await completed.update({ status: 'completed' });
    const released = await store.beginDispatch(task, { role: 'worker' });
    await released.release();
    await leave(store, completed);
    await leave(store, released);
    expect(await left(completed.dispatchId)).toMatchObject({
      envelope: { status: 'completed' },
      events: [],
    });
    expect(await left(released.dispatchId)).toMatchObject({ envelope: { status: 'running' }, events: [] });
  });

  it('has its writes under way before its end, and none after it', async () => {
    const gate = new Gate();
    const { store, left } = twice(
      changedStore((inner) => ({
        async appendEvent(taskDir, dispatchId, event) {
          await gate.opened;
          return inner.appendEvent(taskDir, dispatchId, event);
        },
      })),
    );
    const dispatch = await store.beginDispatch(task, { role: 'worker' });
    const writes = [dispatch.append(say('a')), dispatch.append(say('b'))];
    const leaving = leave(store, dispatch);
    expect(['STORE_LOCKED', 'STORE_CLOSED']).toContain(await codeOf(dispatch.append(say('too late'))));
    gate.open();
    await Promise.all([...writes, leaving]);
    expect((await left(dispatch.dispatchId)).events).toEqual([
      ['agent:text', 'a'],
      ['agent:text', 'b'],
      aborted,
    ]);
  });

  it('keeps the end that is under way', async () => {
    const gate = new Gate();
    const { store, left } = twice(
      changedStore((inner) => ({
        async updateDispatch(taskDir, dispatchId, updates) {
          await gate.opened;
          return inner.updateDispatch(taskDir, dispatchId, updates);
        },
      })),
    );
    const dispatch = await store.beginDispatch(task, { role: 'worker' });
    const ending = dispatch.end({ status: 'completed', cost: 1 });
    const leaving = leave(store, dispatch);
    gate.open();
    expect(await ending).toMatchObject({ status: 'completed', cost: 1 });
    await leaving;
    expect(await left(dispatch.dispatchId)).toMatchObject({
      envelope: { status: 'completed', cost: 1 },
      events: [],
    });
  });

  it('is aborted once, though it is left twice at the same time', async () => {
    const gate = new Gate();
    const { store, left } = twice(
      changedStore((inner) => ({
        async appendEvents(taskDir, dispatchId, events) {
          await gate.opened;
          return inner.appendEvents(taskDir, dispatchId, events);
        },
      })),
    );
    const dispatch = await store.beginDispatch(task, { role: 'worker' });
    const leavings = [dispatch[Symbol.asyncDispose](), leave(store, dispatch), store.close()];
    await turn();
    gate.open();
    await Promise.all(leavings);
    expect((await left(dispatch.dispatchId)).events).toEqual([aborted]);
  });

  it('publishes that it was aborted, and its streams end with that', async () => {
    const published: string[] = [];
    const communication = createCommunicationHub([
      {
        contract: 1,
        eventRecorded: ({ event }) => void published.push(event.type),
        dispatchEnded: ({ envelope }) => void published.push(envelope.status),
      },
    ]);
    await communication.start();
    const { store } = twice();
    const dispatch = await store.beginDispatch(task, { role: 'worker' }, { communication });
    const log = await store.openDispatch(task, dispatch.dispatchId);
    const streams = [gather(dispatch.stream()), gather(log.stream()), gather(log.stream().withDeltas())];
    await turn();
    await leave(store, dispatch);
    for (const { words, done } of streams) {
      await done;
      expect(words).toEqual(['0:harness:abort']);
    }
    await communication.close();
    expect(published).toEqual(['harness:abort', 'aborted']);
  });

  it('is released where the store takes nothing more, with a warning of the process', async () => {
    const emitted = warnings();
    let releases = 0;
    const { store, after, left } = twice(
      changedStore((inner) => ({
        appendEvents() {
          throw storeErrors.error('STORE_UNAVAILABLE', 'the disk is full');
        },
        releaseDispatch(taskDir, dispatchId) {
          releases += 1;
          return inner.releaseDispatch(taskDir, dispatchId);
        },
      })),
    );
    const dispatch = await store.beginDispatch(task, { role: 'worker' });
    await leave(store, dispatch);
    expect(emitted.mock.calls).toEqual([
      [expect.stringContaining('the disk is full'), { type: 'HansardDispatchWarning' }],
    ]);
    expect(emitted.mock.calls[0]?.[0]).toContain(dispatch.dispatchId);
    expect(releases).toBe(1);
    expect((await left(dispatch.dispatchId)).envelope).toMatchObject({ status: 'running' });
    await (await after.openDispatch(task, dispatch.dispatchId, write)).release();
  });

  it('is no longer held by this process where even its release fails', async () => {
    const emitted = warnings();
    let isBroken = true;
    const { store, left } = twice(
      changedStore((inner) => ({
        releaseDispatch(taskDir, dispatchId) {
          if (isBroken) throw storeErrors.error('STORE_UNAVAILABLE', 'the disk is gone');
          return inner.releaseDispatch(taskDir, dispatchId);
        },
      })),
    );
    const dispatch = await store.beginDispatch(task, { role: 'worker' });
    await leave(store, dispatch);
    expect(emitted.mock.calls).toEqual([
      [expect.stringContaining('the disk is gone'), { type: 'HansardDispatchWarning' }],
    ]);
    expect((await left(dispatch.dispatchId)).envelope).toMatchObject({ status: 'aborted' });
    isBroken = false;
    await dispatch[Symbol.asyncDispose]();
    expect(emitted).toHaveBeenCalledTimes(1);
  });
});

describe('the scope of a dispatch', () => {
  it('ends with the error of its body, though the store fails, too', async () => {
    const emitted = warnings();
    const provider = changedStore(() => ({
      appendEvents() {
        throw new Error('the disk is full');
      },
      releaseDispatch() {
        throw new Error('the disk is gone');
      },
    }));
    const store = openDispatchStore(provider);
    const mistake = new Error('my mistake');
    const body = async () => {
      await using dispatch = await store.beginDispatch(task, { role: 'worker' });
      await dispatch.append(say('a'));
      throw mistake;
    };
    await expect(body()).rejects.toBe(mistake);
    expect(emitted).toHaveBeenCalledTimes(1);
  });

  it('that is left with an error leaves the dispatch aborted, free for the next writer', async () => {
    const store = openDispatchStore(createMemoryStore());
    const body = async () => {
      await using dispatch = await store.beginDispatch(task, { role: 'worker', dispatchId: 'D1' });
      await dispatch.append(say('a'));
      throw new Error('my mistake');
    };
    await expect(body()).rejects.toThrow('my mistake');
    await using again = await store.openDispatch(task, 'D1', write);
    expect(again.envelope.status).toBe('aborted');
    expect(await again.count()).toBe(2);
  });

  it('that is left after an end costs the store nothing', async () => {
    const calls: string[] = [];
    const provider = changedStore((inner) => ({
      updateDispatch(taskDir, dispatchId, updates) {
        calls.push('update');
        return inner.updateDispatch(taskDir, dispatchId, updates);
      },
      releaseDispatch(taskDir, dispatchId) {
        calls.push('release');
        return inner.releaseDispatch(taskDir, dispatchId);
      },
    }));
    const store = openDispatchStore(provider);
    {
      await using dispatch = await store.beginDispatch(task, { role: 'worker' });
      await dispatch.end({ status: 'completed' });
    }
    expect(calls).toEqual(['update', 'release']);
  });
});
