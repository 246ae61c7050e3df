import { type DispatchStoreProvider, type StoreCapabilities, storeErrors } from '@hansard/provider';
import { describe, expect, it, vi } from 'vitest';
import { runStoreConformance, type StoreFixture } from '../src/index.ts';
import { createModelStore, emptyModelData, type ModelData } from '../src/model/model-store.ts';
import { modelCapabilities, openModel } from './open-model.ts';

type Reopen = (data: ModelData) => DispatchStoreProvider;
type Beside = (store: DispatchStoreProvider, data: ModelData) => DispatchStoreProvider;

/** Faults that appear only when a store is opened again. Faults of an open store are tested with store-memory. */
const faults: ReadonlyArray<readonly [fault: string, caseId: string, reopen: Reopen]> = [
  ['is empty when it is opened again', 'reopened/everything', () => createModelStore()],
  [
    'loses the last event of each dispatch',
    'reopened/goes-on',
    (data) => {
      for (const dispatches of data.dispatches.values())
        for (const dispatch of dispatches.values()) dispatch.events = dispatch.events.slice(0, -1);
      return createModelStore(data);
    },
  ],
  [
    'marks every running dispatch as crashed',
    'reopened/still-running',
    (data) => {
      for (const dispatches of data.dispatches.values())
        for (const dispatch of dispatches.values())
          dispatch.envelope = { ...dispatch.envelope, status: 'crashed' };
      return createModelStore(data);
    },
  ],
  [
    'forgets tasks that have no dispatch',
    'reopened/everything',
    (data) => {
      for (const taskDir of data.tasks.keys()) if (!data.dispatches.has(taskDir)) data.tasks.delete(taskDir);
      return createModelStore(data);
    },
  ],
];

/** Faults that appear only when a store is opened twice at the same time. */
const sharingFaults: ReadonlyArray<readonly [fault: string, caseIds: readonly string[], beside: Beside]> = [
  [
    'lets every opening claim a dispatch of another one',
    ['claims/second-claim-refused', 'claims/claimed-at-once', 'claims/not-deleted-beside'],
    (_, data) => createModelStore(data),
  ],
  [
    'counts the claims of one opening for all of them',
    ['claims/second-claim-refused', 'claims/writes-refused-beside'],
    (store) => ({ ...store, close: () => {} }),
  ],
  [
    'refuses a claim without naming the owner',
    ['claims/second-claim-refused'],
    (_, data) => ({
      ...createModelStore(data),
      claimDispatch() {
        throw storeErrors.error('STORE_LOCKED', 'It belongs to another opening.');
      },
    }),
  ],
];

describe('the kit', () => {
  it.each(sharingFaults)('notices a store that %s: %j', async (_, caseIds, beside) => {
    const create = () => {
      const data = emptyModelData();
      const store = createModelStore(data);
      return { store, reopen: () => beside(store, data), dispose: () => {} };
    };
    for (const caseId of caseIds)
      expect(await failureOf(caseId, create, { ...modelCapabilities, writers: 'dispatch' })).toBeInstanceOf(
        Error,
      );
  });

  it.each(faults)('notices a store that %s: %s', async (_, caseId, reopen) => {
    const create = () => {
      const data = emptyModelData();
      return { store: createModelStore(data), reopen: () => reopen(data), dispose: () => {} };
    };
    expect(await failureOf(caseId, create)).toBeInstanceOf(Error);
  });

  it('reports the missing reopen of a durable store', async () => {
    const error = await failureOf('reopened/everything', () => ({
      store: createModelStore(),
      dispose: () => {},
    }));
    expect(error).toBeInstanceOf(TypeError);
    expect(String(error)).toContain('reopen()');
  });

  it('reports the failure and the failed clean-up, and still removes the store', async () => {
    const dispose = vi.fn();
    const error = await failureOf('open/find-task', () => ({
      store: { ...createModelStore(), findTask: () => null, close: () => Promise.reject(new Error('stuck')) },
      dispose,
    }));
    expect(String(error)).toMatch(/findTask is null[\s\S]*and in cleaning up: Error: stuck/);
    expect(dispose).toHaveBeenCalledOnce();
  });

  it('refuses to run a case that does not exist or does not apply', async () => {
    const store = { capabilities: modelCapabilities, create: openModel };
    await expect(runStoreConformance(store, ['open/get-tusk'])).rejects.toThrow(/open\/get-tusk/);
    await expect(runStoreConformance(store, ['search/limit'])).rejects.toThrow(TypeError);
  });
});

async function failureOf(
  caseId: string,
  create: () => StoreFixture,
  capabilities: StoreCapabilities = modelCapabilities,
): Promise<unknown> {
  const [result] = await runStoreConformance({ capabilities, create }, [caseId]);
  return result?.error;
}
