import type { DispatchEnvelope, Fidelity } from '@hansard/events';
import type { Awaitable, DispatchStoreProvider } from '@hansard/provider';
import { dispatchKey } from '../dispatch-key.ts';
import { isPromise } from './is-promise.ts';

/** The dispatches that a store object has claimed, each with the fidelity that its envelope states. */
export class ClaimedDispatches {
  readonly #provider: DispatchStoreProvider;
  readonly #claimed = new Map<string, Fidelity>();

  constructor(provider: DispatchStoreProvider) {
    this.#provider = provider;
  }

  /**
   * The fidelity of a dispatch, which is claimed then. At once where it was claimed before, or the provider answers at once.
   * @throws STORE_DISPATCH_NOT_FOUND, STORE_LOCKED
   */
  claim(taskDir: string, dispatchId: string): Awaitable<Fidelity> {
    const known = this.#claimed.get(dispatchKey(taskDir, dispatchId));
    if (known !== undefined) return known;
    const claim = this.#provider.claimDispatch(taskDir, dispatchId);
    if (!isPromise(claim)) return this.note(taskDir, claim.envelope);
    return claim.then(({ envelope }) => this.note(taskDir, envelope));
  }

  /** Takes the envelope of a dispatch that is claimed. */
  note(taskDir: string, { dispatchId, fidelity }: DispatchEnvelope): Fidelity {
    this.#claimed.set(dispatchKey(taskDir, dispatchId), fidelity);
    return fidelity;
  }

  release(taskDir: string, dispatchId: string): Awaitable<void> {
    this.forget(taskDir, dispatchId);
    return this.#provider.releaseDispatch(taskDir, dispatchId);
  }

  forget(taskDir: string, dispatchId: string): void {
    this.#claimed.delete(dispatchKey(taskDir, dispatchId));
  }
}
