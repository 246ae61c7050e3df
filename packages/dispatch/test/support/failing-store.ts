import { type DispatchStoreProvider, storeErrors } from '@hansard/provider';
import { createMemoryStore } from '@hansard/store-memory';
import { randomFrom } from '@hansard/testing';

export const lost = 'The connection was lost.';

export interface Failures {
  /** The part of the calls that fail, from 0 to 1. The half of them has had its effect: only the answer is lost. */
  rate: number;
  /** Whether every call fails, without an effect. */
  isAway: boolean;
  /** How many calls failed before and after their effect. */
  readonly counts: { before: number; after: number };
}

/** A memory store that answers with promises and fails at random, as a database in a network does. */
export function failingStore(seed: number): {
  readonly provider: DispatchStoreProvider;
  readonly inner: DispatchStoreProvider;
  readonly failures: Failures;
} {
  const inner = createMemoryStore();
  const random = randomFrom(seed);
  const failures: Failures = { rate: 0, isAway: false, counts: { before: 0, after: 0 } };
  const fail = () =>
    storeErrors.error('STORE_UNAVAILABLE', lost, { isTransient: true, cause: new Error('ECONNRESET') });
  const provider = new Proxy(inner, {
    get(target, key) {
      const member: unknown = Reflect.get(target, key, target);
      if (typeof member !== 'function' || key === 'close' || key === 'watch') {
        return typeof member === 'function' ? member.bind(target) : member;
      }
      return async (...args: readonly unknown[]) => {
        // As a call over a network: others are made before it has its effect.
        await Promise.resolve();
        const failed = random() < failures.rate;
        if (failures.isAway || (failed && random() < 0.5)) {
          failures.counts.before += 1;
          throw fail();
        }
        const answer = (member as (...args: readonly unknown[]) => unknown).apply(target, [...args]);
        if (failed) {
          failures.counts.after += 1;
          throw fail();
        }
        return answer;
      };
    },
  });
  return { provider, inner, failures };
}
