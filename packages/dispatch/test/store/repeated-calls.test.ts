import { openDispatchStore } from '@hansard/dispatch';
import { type DispatchStoreProvider, storeErrors } from '@hansard/provider';
import { describe, expect, it } from 'vitest';
import { changedStore } from '../support/changed-store.ts';
import { codeOf } from '../support/code-of.ts';

const taskDir = 'lab/tasks/route-models';
const begin = { role: 'worker', model: 'model-a' };

/** A clock whose timers act at once. */
const quick = {
  now: Date.now,
  monotonic: () => 0,
  after: (_ms: number, action: () => void) => {
    queueMicrotask(action);
    return () => {};
  },
};

const away = () => storeErrors.error('STORE_UNAVAILABLE', 'The connection was lost.', { isTransient: true });

/** Loses the first answer of a method. `meanwhile` is done before the call is repeated. */
function losing(
  name: 'createDispatch' | 'deleteDispatch',
  meanwhile: (inner: DispatchStoreProvider, taskDir: string, dispatchId: string) => void = () => {},
  changes: (inner: DispatchStoreProvider) => Partial<DispatchStoreProvider> = () => ({}),
) {
  const calls = { count: 0 };
  const provider = changedStore((inner) => ({
    ...changes(inner),
    [name]: (task: string, second: string | { readonly dispatchId: string }) => {
      calls.count += 1;
      const id = typeof second === 'string' ? second : second.dispatchId;
      if (calls.count > 1) return (inner[name] as (...args: unknown[]) => unknown)(task, second);
      (inner[name] as (...args: unknown[]) => unknown)(task, second);
      meanwhile(inner, task, id);
      throw away();
    },
  }));
  return { store: openDispatchStore(provider, { clock: quick }), provider, calls };
}

describe('a create whose answer was lost', () => {
  it('has succeeded when its repetition finds the equal dispatch, which can be written', async () => {
    const { store, calls } = losing('createDispatch');
    const dispatch = await store.beginDispatch(taskDir, begin);
    expect(calls.count).toBe(2);
    await dispatch.end({ status: 'completed' });
    expect(await store.getDispatchEnvelopes(taskDir)).toMatchObject([{ status: 'completed' }]);
  });

  it('is STORE_DISPATCH_EXISTS if the stored envelope is another one', async () => {
    const { store } = losing('createDispatch', (inner, task, id) => {
      void inner.updateDispatch(task, id, { role: 'another' });
    });
    expect(await codeOf(store.beginDispatch(taskDir, begin))).toBe('STORE_DISPATCH_EXISTS');
  });

  it('is STORE_DISPATCH_EXISTS if another opening has claimed the dispatch', async () => {
    const { store } = losing('createDispatch', undefined, () => ({
      claimDispatch() {
        throw storeErrors.error('STORE_LOCKED', 'Process 4711 writes it.');
      },
    }));
    expect(await codeOf(store.beginDispatch(taskDir, begin))).toBe('STORE_DISPATCH_EXISTS');
  });

  it('claims the dispatch again if the claim was lost meanwhile', async () => {
    const { store } = losing('createDispatch', (inner, task, id) => {
      void inner.releaseDispatch(task, id);
    });
    const dispatch = await store.beginDispatch(taskDir, begin);
    await dispatch.end({ status: 'completed' });
    expect(dispatch.envelope.status).toBe('completed');
  });

  it('is STORE_DISPATCH_EXISTS at the first call, also for an equal dispatch', async () => {
    const provider = changedStore(() => ({}));
    const options = { clock: { ...quick, now: () => 0 }, createId: () => 'SAME' };
    await openDispatchStore(provider, options).beginDispatch(taskDir, begin);
    const second = openDispatchStore(provider, options);
    expect(await codeOf(second.beginDispatch(taskDir, begin))).toBe('STORE_DISPATCH_EXISTS');
  });
});

describe('a deletion whose answer was lost', () => {
  it('has succeeded when its repetition finds nothing', async () => {
    const { store, calls } = losing('deleteDispatch');
    const dispatch = await store.beginDispatch(taskDir, begin);
    await dispatch.end({ status: 'completed' });
    await store.deleteDispatch(dispatch);
    expect(calls.count).toBe(2);
    expect(await store.getDispatchEnvelopes(taskDir)).toEqual([]);
    expect(await codeOf(store.deleteDispatch(dispatch))).toBe('STORE_DISPATCH_NOT_FOUND');
  });
});

describe('a claim that a user breaks', () => {
  it('is broken by one call only, because another process may have claimed the dispatch since', async () => {
    let calls = 0;
    const provider = changedStore(() => ({
      breakClaim() {
        calls += 1;
        throw away();
      },
    }));
    const store = openDispatchStore(provider, { clock: quick });
    expect(await codeOf(store.breakClaim({ taskDir, dispatchId: 'D' }))).toBe('STORE_UNAVAILABLE');
    expect(calls).toBe(1);
  });
});
