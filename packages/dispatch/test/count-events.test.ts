import { newEvent } from '@hansard/events';
import { createMemoryStore } from '@hansard/store-memory';
import { describe, expect, it } from 'vitest';
import { openDispatchStore } from '../src/index.ts';

describe('countEvents', () => {
  it.each([0, 1, 2, 3, 7, 8, 9, 1_000])('tells that a dispatch has %d events', async (count) => {
    await using store = openDispatchStore(createMemoryStore());
    const { dispatchId } = await store.createDispatch('a/b', { role: 'tester' });
    await store.appendEvents(
      'a/b',
      dispatchId,
      Array.from({ length: count }, (_, index) => newEvent('agent:text', { text: `${index}` })),
    );
    expect(await store.countEvents('a/b', dispatchId)).toBe(count);
  });

  it('says where there is no such dispatch', async () => {
    await using store = openDispatchStore(createMemoryStore());
    await expect(store.countEvents('a/b', 'none')).rejects.toThrow(
      expect.objectContaining({ code: 'STORE_DISPATCH_NOT_FOUND' }),
    );
  });
});

describe('an event on its way into a store', () => {
  it('has its keys in the order of the line, data last, whatever the order in which it was made', async () => {
    await using store = openDispatchStore(createMemoryStore());
    const { dispatchId } = await store.createDispatch('a/b', { role: 'tester' });
    const event = await store.appendEvent('a/b', dispatchId, {
      data: { text: 'x' },
      agentId: 'a',
      type: 'agent:text',
    });
    expect(Object.keys(event)).toEqual(['id', 'type', 'timestamp', 'agentId', 'data']);
  });
});
