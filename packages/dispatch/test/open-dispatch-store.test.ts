import { type DispatchStore, openDispatchStore } from '@hansard/dispatch';
import { isEventError, type NewEvent, newEvent } from '@hansard/events';
import { isStoreError } from '@hansard/provider';
import { createMemoryStore } from '@hansard/store-memory';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { changedStore } from './changed-store.ts';
import { Gate, turn } from './gate.ts';
import { ManualClock } from './manual-clock.ts';

const task = 'lab/tasks/route-models';

async function begin(store: DispatchStore): Promise<string> {
  return (await store.createDispatch(task, { role: 'worker' })).dispatchId;
}

function say(text: string): NewEvent {
  return newEvent('agent:text', { text });
}

/** The code of what a promise rejects with; fails where it resolves. */
async function codeOf(promise: Promise<unknown>): Promise<string> {
  const error: unknown = await promise.then(
    () => null,
    (reason) => reason,
  );
  if (isEventError(error) || isStoreError(error)) return error.code;
  throw error ?? new Error('it resolved');
}

describe('a dispatch that begins', () => {
  it('has an envelope with minted id and time, the task as slug, and null for what is not known', async () => {
    const clock = new ManualClock();
    const store = openDispatchStore(createMemoryStore(), { clock, createId: () => 'ID-1' });
    const envelope = await store.createDispatch(task, { role: 'worker', cwd: '/work' });
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
      cost: null,
      usage: null,
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
    const first = await begin(store);
    clock.advance(-5);
    const second = await begin(store);
    expect(first).toMatch(/^[0-9A-HJKMNP-TV-Z]{26}$/);
    expect(second > first).toBe(true);
  });

  it('is refused where its task would leave the root or its role is empty', async () => {
    const store = openDispatchStore(createMemoryStore());
    expect(await codeOf(store.createDispatch('../x', { role: 'worker' }))).toBe('STORE_INVALID_PATH');
    expect(await codeOf(store.createDispatch(task, { role: '' }))).toBe('EVENT_ENVELOPE_INVALID');
  });

  it('counts as running here until it is ended or deleted', async () => {
    const store = openDispatchStore(createMemoryStore());
    const id = await begin(store);
    expect(store.isRunningHere(task, id)).toBe(true);
    await store.updateDispatch(task, id, { status: 'completed' });
    expect(store.isRunningHere(task, id)).toBe(false);
    await store.updateDispatch(task, id, { status: 'running' });
    expect(store.isRunningHere(task, id)).toBe(true);
    await store.deleteDispatch(task, id);
    expect(store.isRunningHere(task, id)).toBe(false);
  });
});

describe('a change of an envelope', () => {
  it('gives the changed envelope, leaves absent keys alone and writes null', async () => {
    const store = openDispatchStore(createMemoryStore());
    const id = await begin(store);
    await store.updateDispatch(task, id, { model: 'm', cwd: '/work' });
    const changes = { model: undefined, cwd: null } as unknown as { cwd: null };
    expect(await store.updateDispatch(task, id, changes)).toMatchObject({ model: 'm', cwd: null });
  });

  it('is refused for the identity, for what JSON cannot hold, and for a dispatch that is not there', async () => {
    const store = openDispatchStore(createMemoryStore());
    const id = await begin(store);
    const identity = { dispatchId: 'other' } as object;
    expect(await codeOf(store.updateDispatch(task, id, identity))).toBe('EVENT_ENVELOPE_INVALID');
    const unknownKey = { newer: Number.NaN } as object;
    expect(await codeOf(store.updateDispatch(task, id, unknownKey))).toBe('EVENT_ENVELOPE_INVALID');
    expect(await codeOf(store.updateDispatch(task, 'none', { cost: 1 }))).toBe('STORE_DISPATCH_NOT_FOUND');
  });
});

describe('an event that is appended', () => {
  it('gets an id and the time where it has none, and keeps those it came with', async () => {
    const store = openDispatchStore(createMemoryStore(), { clock: new ManualClock() });
    const id = await begin(store);
    const minted = await store.appendEvent(task, id, say('a'));
    const kept = {
      id: 'own:1',
      type: 'agent:text',
      timestamp: '2020-01-01T00:00:00.000Z',
      data: { text: 'b' },
    };
    await store.appendEvent(task, id, kept as NewEvent);
    expect(minted).toMatchObject({
      timestamp: '2026-03-01T09:00:00.000Z',
      id: expect.stringMatching(/^.{26}$/),
    });
    expect(await store.getDispatchEvents(task, id)).toEqual([minted, kept]);
  });

  it('is a copy without undefined keys, which later changes of the original do not touch', async () => {
    const store = openDispatchStore(createMemoryStore());
    const id = await begin(store);
    const data = { deep: { list: [1, { gone: undefined }] }, gone: undefined };
    const given: NewEvent = { type: 'game:turn', data, ...({ agentId: undefined } as object) };
    const captured = await store.appendEvent(task, id, given);
    data.deep.list.push(2);
    expect(Object.keys(captured)).not.toContain('agentId');
    expect(captured.data).toStrictEqual({ deep: { list: [1, {}] } });
    expect(await store.getDispatchEvents(task, id)).toStrictEqual([captured]);
  });

  it('keeps a key named __proto__ as a key', async () => {
    const store = openDispatchStore(createMemoryStore());
    const id = await begin(store);
    const data = JSON.parse('{"__proto__":{"a":1},"b":{"__proto__":[{"c":2}]}}');
    const captured = await store.appendEvent(task, id, { type: 'game:turn', data });
    expect(JSON.stringify(captured.data)).toBe(JSON.stringify(data));
    expect(Object.getPrototypeOf(captured.data)).toBe(Object.prototype);
  });

  it('is refused where it is a streaming delta: a delta is never recorded', async () => {
    const store = openDispatchStore(createMemoryStore(), { schemas: { 'delta:text': z.any() } });
    const id = await begin(store);
    const delta = { type: 'delta:text', text: 'a', data: { text: 'a' } } as NewEvent;
    expect(await codeOf(store.appendEvent(task, id, delta))).toBe('EVENT_EPHEMERAL');
    expect(await store.getDispatchEvents(task, id)).toEqual([]);
  });

  const cycle: Record<string, unknown> = {};
  cycle.self = cycle;
  it.each([
    ['NaN', Number.NaN],
    ['a Date', new Date(0)],
    ['a function', () => 1],
    ['a Map', new Map()],
    ['a hole in a list', [1, undefined]],
    ['a BigInt', 1n],
    ['a cycle', cycle],
  ])('is refused where it holds %s, which JSON cannot', async (_, value) => {
    const store = openDispatchStore(createMemoryStore());
    const id = await begin(store);
    const event = { type: 'game:turn', data: { value } } as unknown as NewEvent;
    expect(await codeOf(store.appendEvent(task, id, event))).toBe('EVENT_NOT_JSON');
    expect(await store.getDispatchEvents(task, id)).toEqual([]);
  });

  it('is refused where it is no event at all', async () => {
    const store = openDispatchStore(createMemoryStore());
    const id = await begin(store);
    for (const nothing of [undefined, null, 'text', 7]) {
      const event = nothing as unknown as NewEvent;
      expect(await codeOf(store.appendEvent(task, id, event))).toBe('EVENT_INVALID');
    }
  });

  it('is checked by the schemas of plugins beside those of Hansard, which they cannot loosen', async () => {
    const schemas = { 'game:vote': z.object({ for: z.string() }), 'agent:text': z.any() };
    const store = openDispatchStore(createMemoryStore(), { schemas });
    const id = await begin(store);
    await store.appendEvent(task, id, { type: 'game:vote', data: { for: 'Jill' } });
    await store.appendEvent(task, id, { type: 'game:other', data: { anything: true } });
    expect(await codeOf(store.appendEvent(task, id, { type: 'game:vote', data: {} }))).toBe('EVENT_INVALID');
    expect(await codeOf(store.appendEvent(task, id, { type: 'agent:text', data: {} }))).toBe('EVENT_INVALID');
  });

  it('is redacted before it is recorded', async () => {
    const store = openDispatchStore(createMemoryStore(), {
      redact: (event) => ({ ...event, data: { ...event.data, text: '[redacted]' } }),
    });
    const id = await begin(store);
    const original = say('my key is 1234');
    const captured = await store.appendEvent(task, id, original);
    expect(original.data).toEqual({ text: 'my key is 1234' });
    expect(captured.data).toEqual({ text: '[redacted]' });
    expect(await store.getDispatchEvents(task, id)).toEqual([captured]);
  });

  it('is refused where redaction makes it invalid', async () => {
    const store = openDispatchStore(createMemoryStore(), { redact: (event) => ({ ...event, data: {} }) });
    const id = await begin(store);
    expect(await codeOf(store.appendEvent(task, id, say('a')))).toBe('EVENT_INVALID');
  });

  it('of a batch with an invalid one is not recorded, nor are the others', async () => {
    const store = openDispatchStore(createMemoryStore());
    const id = await begin(store);
    const bad = { type: 'agent:text', data: {} } as NewEvent;
    expect(await codeOf(store.appendEvents(task, id, [say('a'), bad]))).toBe('EVENT_INVALID');
    expect(await store.getDispatchEvents(task, id)).toEqual([]);
    const captured = await store.appendEvents(task, id, [say('a'), say('b')]);
    expect(await store.getDispatchEvents(task, id)).toEqual(captured);
  });
});

describe('writes without waiting', () => {
  it('keep the order of their calls also where the store answers later and in another order', async () => {
    const gates: Gate[] = [];
    const provider = changedStore((store) => ({
      async appendEvent(taskDir, dispatchId, event) {
        const gate = new Gate();
        gates.push(gate);
        await gate.opened;
        await store.appendEvent(taskDir, dispatchId, event);
      },
    }));
    const store = openDispatchStore(provider);
    const id = await begin(store);
    const writes: Promise<unknown>[] = ['a', 'b', 'c'].map((text) => store.appendEvent(task, id, say(text)));
    writes.push(store.appendEvents(task, id, [say('d')]));
    writes.push(store.updateDispatch(task, id, { status: 'completed' }));
    for (let opened = 0; opened < 3; opened += 1) {
      await turn();
      expect(gates).toHaveLength(opened + 1);
      gates[opened]?.open();
    }
    await Promise.all(writes);
    const texts = (await store.getDispatchEvents(task, id)).map(({ data }) => data.text);
    expect(texts).toEqual(['a', 'b', 'c', 'd']);
  });

  it('do not wait for another dispatch', async () => {
    const gate = new Gate();
    let slow = '';
    const provider = changedStore((store) => ({
      async appendEvent(taskDir, dispatchId, event) {
        if (dispatchId === slow) await gate.opened;
        await store.appendEvent(taskDir, dispatchId, event);
      },
    }));
    const store = openDispatchStore(provider);
    slow = await begin(store);
    const quick = await begin(store);
    const waiting = store.appendEvent(task, slow, say('a'));
    await store.appendEvent(task, quick, say('b'));
    expect(await store.getDispatchEvents(task, slow)).toEqual([]);
    gate.open();
    await waiting;
  });

  it('go on after one that failed, which rejects', async () => {
    let failures = 1;
    const provider = changedStore((store) => ({
      async appendEvent(taskDir, dispatchId, event) {
        await turn();
        failures -= 1;
        if (failures === 0) throw new Error('disk full');
        await store.appendEvent(taskDir, dispatchId, event);
      },
    }));
    const store = openDispatchStore(provider);
    const id = await begin(store);
    const results = await Promise.allSettled([
      store.appendEvent(task, id, say('a')),
      store.appendEvent(task, id, say('b')),
    ]);
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'fulfilled']);
    expect(await store.getDispatchEvents(task, id)).toHaveLength(1);
  });

  it('reject where the provider throws at once', async () => {
    const provider = changedStore(() => ({
      appendEvent() {
        throw new Error('disk full');
      },
    }));
    const store = openDispatchStore(provider);
    const id = await begin(store);
    await expect(store.appendEvent(task, id, say('a'))).rejects.toThrow('disk full');
  });
});

describe('reading', () => {
  it('gives pages, the last events, single envelopes and the session as text', async () => {
    const store = openDispatchStore(createMemoryStore());
    const id = await begin(store);
    const [a, b, c] = await store.appendEvents(task, id, [say('one'), say('two'), say('three')]);
    expect(await store.readEvents(task, id, { after: 0, limit: 1 })).toEqual({
      events: [b],
      first: 1,
      next: 1,
    });
    expect(await store.getRecentEvents(task, id, 2)).toEqual([b, c]);
    expect(await store.getDispatchEvents(task, id)).toEqual([a, b, c]);
    expect(await store.getDispatchEnvelope(task, 'none')).toBeNull();
    const text = await store.renderSessionView(task, id);
    expect(text.indexOf('one')).toBeGreaterThan(-1);
    expect(text.indexOf('three')).toBeGreaterThan(text.indexOf('two'));
  });

  it('tells apart a wrong number, a wrong cursor and a dispatch that is not there', async () => {
    const store = openDispatchStore(createMemoryStore());
    const id = await begin(store);
    await expect(store.getRecentEvents(task, id, -1)).rejects.toThrow(TypeError);
    await expect(store.readEvents(task, id, { limit: 0 })).rejects.toThrow(TypeError);
    expect(await codeOf(store.readEvents(task, id, { after: -2 }))).toBe('STORE_INVALID_CURSOR');
    expect(await codeOf(store.renderSessionView(task, 'none'))).toBe('STORE_DISPATCH_NOT_FOUND');
  });

  it('gives tasks, and refuses a task record that is none', async () => {
    const store = openDispatchStore(createMemoryStore());
    const record = {
      slug: 'route-models',
      name: 'Route models',
      project: 'lab',
      status: 'open',
      created: '2026-03-01T09:00:00.000Z',
    };
    await store.putTask(task, record);
    expect(await store.getTask(task)).toEqual(record);
    expect(await store.listTasks()).toEqual([{ taskDir: task, task: record }]);
    expect(await codeOf(store.putTask(task, { ...record, created: 'today' }))).toBe('EVENT_TASK_INVALID');
    expect(await codeOf(store.putTask(task, { ...record, ...{ due: Number.NaN } }))).toBe(
      'EVENT_TASK_INVALID',
    );
    await store.putTask(task, { ...record, ...{ due: undefined } });
    expect(Object.keys((await store.getTask(task)) ?? {})).toEqual(Object.keys(record));
  });

  it('searches and deletes where the store can, and says so where it cannot', async () => {
    const able = openDispatchStore(createMemoryStore());
    const id = await begin(able);
    const event = await able.appendEvent(task, id, say('a needle'));
    expect(await able.searchEvents(task, 'needle')).toEqual([{ dispatchId: id, position: 0, event }]);
    await able.deleteDispatch(task, id);
    expect(await able.getDispatchEnvelopes(task)).toEqual([]);
    expect(await able.getRepairs()).toEqual([]);

    const capabilities = { ...createMemoryStore().capabilities, search: false, deleteDispatch: false };
    const unable = openDispatchStore(changedStore(() => ({ capabilities })));
    expect(await codeOf(unable.searchEvents(task, 'needle'))).toBe('STORE_UNSUPPORTED');
    expect(await codeOf(unable.deleteDispatch(task, id))).toBe('STORE_UNSUPPORTED');
  });
});

describe('closing', () => {
  it('finishes the writes under way, then refuses every call', async () => {
    const gate = new Gate();
    const order: string[] = [];
    const provider = changedStore((store) => ({
      async appendEvent(taskDir, dispatchId, event) {
        await gate.opened;
        await store.appendEvent(taskDir, dispatchId, event);
        order.push('written');
      },
      close() {
        order.push('closed');
      },
    }));
    const store = openDispatchStore(provider);
    const id = await begin(store);
    const write = store.appendEvent(task, id, say('a'));
    const closing = store.close();
    expect(await codeOf(store.appendEvent(task, id, say('b')))).toBe('STORE_CLOSED');
    gate.open();
    await Promise.all([write, closing, store.close()]);
    expect(order).toEqual(['written', 'closed']);
    expect(await codeOf(store.getDispatchEvents(task, id))).toBe('STORE_CLOSED');
    expect(await codeOf(store.createDispatch(task, { role: 'worker' }))).toBe('STORE_CLOSED');
  });

  it('happens at the end of an `await using` block', async () => {
    const provider = createMemoryStore();
    {
      await using store = openDispatchStore(provider);
      await begin(store);
    }
    expect(() => provider.getDispatchEnvelopes(task)).toThrow(
      expect.objectContaining({ code: 'STORE_CLOSED' }),
    );
  });
});
