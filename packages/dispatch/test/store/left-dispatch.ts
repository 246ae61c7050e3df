import { openDispatchStore } from '@hansard/dispatch';
import type { DispatchStoreProvider } from '@hansard/provider';
import { createMemoryStore } from '@hansard/store-memory';
import { ManualClock } from '@hansard/testing';

export const task = 'lab/tasks/route-models';

/** The event of a dispatch that was left without an end, as `left` gives it. */
export const aborted = ['harness:abort', 'left without end'];

/** Two openings of one provider: the second one reads what the first one stored before it was closed. */
export function twice(provider: DispatchStoreProvider = createMemoryStore()) {
  const store = openDispatchStore(keptOpen(provider), { clock: new ManualClock() });
  const after = openDispatchStore(provider);
  const left = async (dispatchId: string) => ({
    envelope: await after.getDispatchEnvelope(task, dispatchId),
    events: (await after.getDispatchEvents(task, dispatchId)).map(({ type, data }) => [
      type,
      data.reason ?? data.text,
    ]),
  });
  return { store, after, left };
}

/** The same provider, which the closing of the store leaves open. */
function keptOpen(provider: DispatchStoreProvider): DispatchStoreProvider {
  return new Proxy(provider, {
    get(target, key) {
      if (key === 'close') return () => {};
      const member: unknown = Reflect.get(target, key, target);
      return typeof member === 'function' ? member.bind(target) : member;
    },
  });
}
