import { openDispatchStore } from '@hansard/dispatch';
import type { DispatchStoreProvider } from '@hansard/provider';
import { createMemoryStore } from '@hansard/store-memory';
import { renderSessionView } from '@hansard/views';
import { describe, expect, it } from 'vitest';
import { changedStore } from '../support/changed-store.ts';
import { codeOf } from '../support/code-of.ts';
import { Gate, turn } from '../support/gate.ts';
import { begin, say, task } from '../support/route-models.ts';

describe('a store for another version of the contracts', () => {
  it.each([
    ['none', undefined, /has no `contract`\. This Hansard supports version 1 /],
    ['a newer one', 2, /has `contract: 2`\. .* Update Hansard\./],
    ['an older one', 0, /has `contract: 0`\. .* Update the plugin\./],
    ['a text', '1', /not a whole number: "1"/],
    ['an object', {}, /not a whole number: a value of type object/],
  ])('is refused before any of its methods is called: %s', (_, contract, says) => {
    const used: PropertyKey[] = [];
    const store = new Proxy(createMemoryStore(), {
      get(target, key) {
        if (key === 'contract') return contract;
        used.push(key);
        return Reflect.get(target, key);
      },
    });
    const open = () => openDispatchStore(store as DispatchStoreProvider);
    expect(open).toThrow(says);
    expect(open).toThrow(
      expect.objectContaining({ code: 'STORE_CONTRACT_VERSION', details: { contract, expected: 1 } }),
    );
    expect(used).toEqual([]);
  });
});

describe('reading', () => {
  it('gives the events, the last ones, single envelopes and the session as text', async () => {
    const store = openDispatchStore(createMemoryStore());
    const dispatch = await begin(store);
    const id = dispatch.dispatchId;
    const [a, b, c] = await dispatch.append([say('one'), say('two'), say('three')]);
    expect(await store.getRecentEvents(task, id, 2)).toEqual([b, c]);
    expect(await store.getDispatchEvents(task, id)).toEqual([a, b, c]);
    expect(await store.getDispatchEnvelope(task, 'none')).toBeNull();
    const text = await renderSessionView(store, task, id);
    expect(text.indexOf('one')).toBeGreaterThan(-1);
    expect(text.indexOf('three')).toBeGreaterThan(text.indexOf('two'));
  });

  it('reports a wrong number and a dispatch that does not exist', async () => {
    const store = openDispatchStore(createMemoryStore());
    const { dispatchId } = await begin(store);
    await expect(store.getRecentEvents(task, dispatchId, -1)).rejects.toThrow(TypeError);
    expect(await codeOf(store.openDispatch(task, 'none'))).toBe('STORE_DISPATCH_NOT_FOUND');
    expect(await codeOf(store.openDispatch(task, 'none', { write: true }))).toBe('STORE_DISPATCH_NOT_FOUND');
    expect(await codeOf(renderSessionView(store, task, 'none'))).toBe('STORE_DISPATCH_NOT_FOUND');
  });

  it('gives tasks, and refuses an invalid task record', async () => {
    const store = openDispatchStore(createMemoryStore());
    const record = {
      slug: 'route-models',
      name: 'Route models',
      project: 'lab',
      status: 'open',
      created: '2026-03-01T09:00:00.000Z',
    };
    await store.putTask(task, record);
    expect(await store.findTask(task)).toEqual(record);
    expect(await store.listTasks()).toEqual([{ taskDir: task, task: record }]);
    expect(await codeOf(store.putTask(task, { ...record, created: 'today' }))).toBe('EVENT_TASK_INVALID');
    expect(await codeOf(store.putTask(task, { ...record, ...{ due: Number.NaN } }))).toBe(
      'EVENT_TASK_INVALID',
    );
    await store.putTask(task, { ...record, ...{ due: undefined } });
    expect(Object.keys((await store.findTask(task)) ?? {})).toEqual(Object.keys(record));
  });

  it('searches and deletes where the store can, and says so where it cannot', async () => {
    const able = openDispatchStore(createMemoryStore());
    const dispatch = await begin(able);
    const id = dispatch.dispatchId;
    const event = await dispatch.append(say('a needle'));
    const hit = { taskDir: task, dispatchId: id, position: 0, event };
    expect(await able.searchEvents('needle')).toEqual([hit]);
    expect(await able.searchEvents('needle', { taskDir: 'other' })).toEqual([]);
    expect(await codeOf(able.deleteDispatch({ taskDir: task, dispatchId: id }))).toBe('STORE_LOCKED');
    await dispatch.release();
    await able.deleteDispatch({ taskDir: task, dispatchId: id });
    expect(await able.getDispatchEnvelopes(task)).toEqual([]);
    expect(await able.getRepairs()).toEqual([]);
    expect(await able.removeRemains()).toBeNull();
    const cleaned = openDispatchStore(changedStore(() => ({ removeRemains: () => ['a backup'] })));
    expect(await cleaned.removeRemains()).toEqual(['a backup']);

    const capabilities = {
      ...createMemoryStore().capabilities,
      search: false as const,
      deleteDispatch: false,
      rewrite: false,
    };
    const unable = openDispatchStore(changedStore(() => ({ capabilities })));
    expect(await codeOf(unable.searchEvents('needle'))).toBe('STORE_UNSUPPORTED');
    expect(await codeOf(unable.deleteDispatch({ taskDir: task, dispatchId: id }))).toBe('STORE_UNSUPPORTED');
  });
});

describe('closing', () => {
  it('finishes the writes under way, then refuses every call', async () => {
    const gate = new Gate();
    const order: string[] = [];
    const provider = changedStore((store) => ({
      async appendEvent(taskDir, dispatchId, event) {
        await gate.opened;
        const position = await store.appendEvent(taskDir, dispatchId, event);
        order.push('written');
        return position;
      },
      close() {
        order.push('closed');
      },
    }));
    const store = openDispatchStore(provider);
    const dispatch = await begin(store);
    await dispatch.release();
    const open = await store.openDispatch(task, dispatch.dispatchId, { write: true });
    const write = open.append(say('a'));
    const closing = store.close();
    expect(await codeOf(open.append(say('b')))).toBe('STORE_CLOSED');
    expect(() => open.accept([say('b')])).toThrow(expect.objectContaining({ code: 'STORE_CLOSED' }));
    expect(await codeOf(open.update({ model: 'm' }))).toBe('STORE_CLOSED');
    expect(await codeOf(open.end({ status: 'completed' }))).toBe('STORE_CLOSED');
    expect(await codeOf(open.beginChild({ role: 'worker' }))).toBe('STORE_CLOSED');
    gate.open();
    await Promise.all([write, closing, store.close()]);
    expect(order).toEqual(['written', 'closed']);
    expect(await codeOf(store.getDispatchEvents(task, dispatch.dispatchId))).toBe('STORE_CLOSED');
    expect(await codeOf(store.beginDispatch(task, { role: 'worker' }))).toBe('STORE_CLOSED');
    expect(await codeOf(store.openDispatch(task, dispatch.dispatchId))).toBe('STORE_CLOSED');
    expect(await codeOf(store.openDispatch(task, dispatch.dispatchId, { write: true }))).toBe('STORE_CLOSED');
    expect(await codeOf(open.last(1))).toBe('STORE_CLOSED');
    expect(await codeOf(open.refresh())).toBe('STORE_CLOSED');
    expect(await codeOf(open.append(say('c')))).toBe('STORE_CLOSED');
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

  it('waits for a task record and a deletion that are under way', async () => {
    const gate = new Gate();
    const order: string[] = [];
    const provider = changedStore((store) => ({
      async putTask(taskDir, record) {
        await gate.opened;
        store.putTask(taskDir, record);
        order.push('put');
      },
      async deleteDispatch(taskDir, dispatchId) {
        await gate.opened;
        store.deleteDispatch?.(taskDir, dispatchId);
        order.push('deleted');
      },
      close() {
        order.push('closed');
      },
    }));
    const store = openDispatchStore(provider);
    const dispatch = await begin(store);
    await dispatch.release();
    const record = {
      slug: 'route-models',
      name: 'Route models',
      project: 'lab',
      status: 'open',
      created: '2026-03-01T09:00:00.000Z',
    };
    const writes = [store.putTask(task, record), store.deleteDispatch(dispatch)];
    const closing = store.close();
    await turn();
    expect(order).toEqual([]);
    gate.open();
    await Promise.all([...writes, closing]);
    expect(order).toHaveLength(3);
    expect(order.at(-1)).toBe('closed');
  });
});
