import type { DispatchStoreProvider, StoreCapabilities } from '@hansard/provider';
import type { StoreFixture } from '../src/index.ts';
import { createModelStore, emptyModelData } from '../src/model/model-store.ts';

export const modelCapabilities: StoreCapabilities = createModelStore().capabilities;

/** The kit's own model as a store that can be opened again. */
export function openModel(): StoreFixture {
  const data = emptyModelData();
  return { store: createModelStore(data), reopen: () => createModelStore(data), dispose: () => {} };
}

/** The same with promises: each method returns one, and rejects it to fail. */
export function openAsyncModel(): StoreFixture {
  const data = emptyModelData();
  const open = () => answerLater(createModelStore(data));
  return { store: open(), reopen: async () => open(), dispose: async () => {} };
}

function answerLater(store: DispatchStoreProvider): DispatchStoreProvider {
  return new Proxy(store, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== 'function') return member;
      return async (...args: readonly unknown[]) => {
        // The functions of a rewrite cannot be copied.
        const copies = member === target.rewriteDispatch ? args : structuredClone(args);
        await Promise.resolve();
        return Reflect.apply(member, target, copies) as unknown;
      };
    },
  });
}
