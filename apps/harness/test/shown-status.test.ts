import { shownStatus } from '@hansard/compose';
import { openDispatchStore } from '@hansard/dispatch';
import { storeErrors } from '@hansard/provider';
import { createMemoryStore } from '@hansard/store-memory';
import { describe, expect, it } from 'vitest';

const taskDir = 'lab/tasks/house';
const source = { format: 'claude-transcript', files: [] };

describe('the status of a dispatch that is running', () => {
  it('is running while it is claimed, and running when last seen afterwards', async () => {
    await using store = openDispatchStore(createMemoryStore());
    const dispatch = await store.beginDispatch(taskDir, { role: 'worker' });
    const ended = await store.beginDispatch(taskDir, { role: 'worker' });
    await ended.end({ status: 'completed' });
    const statuses = async () => {
      const envelopes = await store.getDispatchEnvelopes(taskDir);
      return envelopes.map(await shownStatus(store, taskDir, envelopes)).sort();
    };
    expect(await statuses()).toEqual(['completed', 'running']);
    await dispatch.release();
    expect(await statuses()).toEqual(['completed', 'running when last seen']);
  });

  it('depends on its source where the store cannot say whether it is claimed', async () => {
    await using store = openDispatchStore(createMemoryStore());
    await (await store.beginDispatch(taskDir, { role: 'worker' })).release();
    await (await store.beginDispatch(taskDir, { role: 'imported', source })).release();
    const silent = Object.create(store, {
      findClaims: {
        value: async () => {
          throw storeErrors.error('STORE_UNSUPPORTED', 'This store has no claims.');
        },
      },
    }) as typeof store;
    const envelopes = await store.getDispatchEnvelopes(taskDir);
    const statusOf = await shownStatus(silent, taskDir, envelopes);
    expect(Object.fromEntries(envelopes.map((envelope) => [envelope.role, statusOf(envelope)]))).toEqual({
      worker: 'running',
      imported: 'running when last seen',
    });
  });
});
