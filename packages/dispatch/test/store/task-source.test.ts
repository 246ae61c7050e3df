import { openDispatchStore, openTaskSource } from '@hansard/dispatch';
import { newEvent, type TaskSource } from '@hansard/events';
import { type DispatchStoreProvider, storeErrors } from '@hansard/provider';
import { createMemoryStore } from '@hansard/store-memory';
import { describe, expect, it } from 'vitest';
import { changedStore } from '../support/changed-store.ts';

const task = 'lab/tasks/route-models';
const damaged = storeErrors.error('STORE_CORRUPT', 'The record of a task is damaged.');

/** A task with two dispatches of 600 events each. */
async function twoDispatches(provider: DispatchStoreProvider = createMemoryStore()) {
  const store = openDispatchStore(provider);
  for (const dispatchId of ['d-1', 'd-2']) {
    const dispatch = await store.beginDispatch(task, { dispatchId, role: 'worker' });
    await dispatch.append(Array.from({ length: 600 }, (_, at) => newEvent('agent:text', { text: `${at}` })));
    await dispatch.end({ status: 'completed' });
  }
  return store;
}

async function textsOf(source: TaskSource, dispatchId: string): Promise<unknown[]> {
  const texts: unknown[] = [];
  for await (const { data } of source.readEvents(dispatchId)) texts.push(data.text);
  return texts;
}

describe('the source of an export', () => {
  it('has every dispatch of the task with its events in append order', async () => {
    const source = await openTaskSource(await twoDispatches(), task);
    expect(source.envelopes.map(({ dispatchId }) => dispatchId)).toEqual(['d-1', 'd-2']);
    expect(source.task).toBeNull();
    expect(await textsOf(source, 'd-2')).toEqual(Array.from({ length: 600 }, (_, at) => `${at}`));
  });

  it('exports only the dispatches that are named, and still knows the others', async () => {
    const store = await twoDispatches();
    const envelopes = (await store.getDispatchEnvelopes(task)).slice(1);
    const source = await openTaskSource(store, task, { envelopes });
    expect(source.envelopes).toEqual(envelopes);
    expect(source.relatives).toHaveLength(2);
  });

  it('reports how many events were read, over all dispatches', async () => {
    const counts: number[] = [];
    const source = await openTaskSource(await twoDispatches(), task, {
      onPage: (events) => void counts.push(events),
    });
    for (const { dispatchId } of source.envelopes) await textsOf(source, dispatchId);
    expect(counts).toEqual([500, 600, 1_100, 1_200]);
  });

  it('is refused for a damaged task record, unless the caller handles the error', async () => {
    const provider = changedStore(() => ({
      findTask: async () => {
        throw damaged;
      },
    }));
    const store = await twoDispatches(provider);
    await expect(openTaskSource(store, task)).rejects.toBe(damaged);
    const omitted: string[] = [];
    const source = await openTaskSource(store, task, { onUnreadable: (_, what) => omitted.push(what) });
    expect([source.task, omitted]).toEqual([null, ['task']]);
  });
});
