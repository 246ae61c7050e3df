import type { Awaitable, DispatchStoreProvider } from '@hansard/provider';
import type { CapabilityFlag } from '../run/conformance-case.ts';

/** One operation of a store, from which every family about operations has a case. */
export interface StoreOperation {
  /** Part of the ids of its cases. */
  readonly name: string;
  readonly method: string;
  readonly needs: readonly CapabilityFlag[];
  /** The arguments that name a task or a dispatch. */
  readonly takes: 'taskDir and dispatchId' | 'taskDir' | 'nothing';
  /** The answer for a missing dispatch: STORE_DISPATCH_NOT_FOUND, a value, or the operation creates it. */
  readonly whenMissing: 'refused' | 'creates' | { readonly answer: unknown };
  /** Whether it is refused for a dispatch that is not claimed. */
  readonly needsClaim?: boolean;
  call(store: DispatchStoreProvider, taskDir: string, dispatchId: string): Awaitable<unknown>;
  /** Checks the answer and the effect of the call on a prepared store. */
  verify(answer: unknown, store: DispatchStoreProvider): Promise<void>;
}
