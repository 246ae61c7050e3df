import assert from 'node:assert/strict';
import { type Awaitable, type DispatchStoreProvider, type StoreError, storeErrors } from '@hansard/provider';
import { describeError } from '../../checks/expectations.ts';
import { taskDir } from '../../checks/prepared-store.ts';
import { sampleEnvelope, sampleEvents } from '../../checks/sample-data.ts';
import type { CaseContext } from '../../run/case-context.ts';
import { skipCase } from '../../run/conformance-case.ts';
import type { InjectedFault } from '../../run/store-fixture.ts';

/** The events of each dispatch before the call that fails. */
export const before = sampleEvents(2, 'before');
/** More calls of the system than a method of a store makes. */
const mostCalls = 300;

export const singleFaults: readonly Omit<InjectedFault, 'after'>[] = [
  { kind: 'EIO', isLasting: false },
  { kind: 'EMFILE', isLasting: false },
  { kind: 'ENOSPC', isLasting: false },
  { kind: 'short write', isLasting: false },
];
/** Passes by itself: another part of the process closes a file. */
export const noDescriptor: readonly Omit<InjectedFault, 'after'>[] = [{ kind: 'EMFILE', isLasting: true }];
export const fullDisk: readonly Omit<InjectedFault, 'after'>[] = [{ kind: 'ENOSPC', isLasting: true }];

/** One attempt, on a dispatch of its own that the opening has claimed. */
export interface Attempt {
  readonly store: DispatchStoreProvider;
  readonly dispatchId: string;
  /** Whether the method failed, with a code. */
  readonly hasFailed: boolean;
  /** Null if it did not fail. */
  readonly error: StoreError | null;
}

/**
 * Calls a method again and again, each time on another dispatch, while the first of its calls of the system fails, then the second, and so
 * on until none does. `check` examines the result when the system works again.
 */
export async function forEachFault(
  context: CaseContext,
  faults: readonly Omit<InjectedFault, 'after'>[],
  act: (store: DispatchStoreProvider, dispatchId: string) => Awaitable<unknown>,
  check: (attempt: Attempt) => Promise<void>,
): Promise<void> {
  const { store, faults: injected } = context;
  if (injected === undefined)
    skipCase('the fixture has no `faults`, which makes calls of the operating system fail');
  for (const fault of faults)
    for (let after = 0; ; after += 1) {
      assert.ok(after < mostCalls, `a call made the system fail ${mostCalls} times`);
      const dispatchId = `${fault.kind.replace(' ', '-')}${fault.isLasting ? '-lasting' : ''}-${after}`;
      await store.createDispatch(taskDir, sampleEnvelope(dispatchId));
      await store.appendEvents(taskDir, dispatchId, before);
      injected.begin({ ...fault, after });
      let error: unknown = null;
      let failedCalls = 0;
      try {
        await act(store, dispatchId);
      } catch (thrown) {
        error = thrown;
      } finally {
        failedCalls = injected.end();
      }
      try {
        if (error !== null && !storeErrors.is(error, 'STORE_UNAVAILABLE')) throw error;
        assert.ok(error === null || failedCalls > 0, 'it failed although no call of the system did');
        await check({ store, dispatchId, hasFailed: error !== null, error });
      } catch (cause) {
        throw new Error(
          `After ${fault.kind} in call ${after + 1}${fault.isLasting ? ' and all later ones' : ''}: ${describeError(cause)}`,
          { cause },
        );
      }
      if (failedCalls === 0) break;
    }
}
