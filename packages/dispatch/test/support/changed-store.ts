import type { DispatchStoreProvider } from '@hansard/provider';
import { createMemoryStore } from '@hansard/store-memory';

/** A memory store with some members replaced. Each replacement can call the store that it is given. */
export function changedStore(
  change: (store: DispatchStoreProvider) => Partial<DispatchStoreProvider>,
): DispatchStoreProvider {
  const store = createMemoryStore();
  const changes = change(store) as Record<PropertyKey, unknown>;
  return new Proxy(store, {
    get(target, key) {
      if (Object.hasOwn(changes, key)) return changes[key];
      const member: unknown = Reflect.get(target, key, target);
      return typeof member === 'function' ? member.bind(target) : member;
    },
  });
}
