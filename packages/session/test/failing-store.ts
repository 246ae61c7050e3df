import { type DispatchStoreProvider, storeErrors } from '@hansard/provider';
import { createMemoryStore } from '@hansard/store-memory';

/** A store whose calls all fail after this number of appends, until it recovers. */
export function failingStore(
  appends = Number.POSITIVE_INFINITY,
  inner: DispatchStoreProvider = createMemoryStore(),
  isTransient = false,
) {
  const error = storeErrors.error('STORE_UNAVAILABLE', 'The disk is gone.', { isTransient });
  let limit = appends;
  let made = 0;
  let isBroken = false;
  const provider = new Proxy(inner, {
    get(target, key) {
      const member: unknown = Reflect.get(target, key, target);
      if (typeof member !== 'function') return member;
      return (...args: unknown[]) => {
        if (key === 'appendEvents' || key === 'appendEvent') {
          isBroken ||= made >= limit;
          made += 1;
        }
        if (isBroken) throw error;
        return member.apply(target, args);
      };
    },
  });
  return {
    provider,
    error,
    get appendsMade() {
      return made;
    },
    breakNow() {
      isBroken = true;
    },
    recover() {
      isBroken = false;
      limit = Number.POSITIVE_INFINITY;
    },
  };
}
