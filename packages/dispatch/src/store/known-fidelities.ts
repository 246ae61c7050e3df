import type { DispatchEnvelope, Fidelity } from '@hansard/events';
import type { Awaitable, DispatchStoreProvider } from '@hansard/provider';
import { dispatchKey } from '../dispatch-key.ts';
import { isPromise } from './is-promise.ts';

const mostRemembered = 10_000;

/** What the envelopes of dispatches say of their fidelity. Each is read once, before the first event is written to it. */
export class KnownFidelities {
  readonly #provider: DispatchStoreProvider;
  readonly #known = new Map<string, Fidelity>();

  constructor(provider: DispatchStoreProvider) {
    this.#provider = provider;
  }

  /** At once where it is known, or the provider answers at once. A dispatch that is not there counts as a narrative. */
  of(taskDir: string, dispatchId: string): Awaitable<Fidelity> {
    const known = this.#known.get(dispatchKey(taskDir, dispatchId));
    if (known !== undefined) return known;
    const envelope = this.#provider.getDispatchEnvelope(taskDir, dispatchId);
    if (!isPromise(envelope)) return this.#noteRead(taskDir, envelope);
    return envelope.then((read) => this.#noteRead(taskDir, read));
  }

  note(taskDir: string, { dispatchId, fidelity }: DispatchEnvelope): void {
    const key = dispatchKey(taskDir, dispatchId);
    if (this.#known.get(key) === fidelity) return;
    this.#known.set(key, fidelity);
    if (this.#known.size <= mostRemembered) return;
    for (const oldest of this.#known.keys()) {
      this.#known.delete(oldest);
      break;
    }
  }

  forget(taskDir: string, dispatchId: string): void {
    this.#known.delete(dispatchKey(taskDir, dispatchId));
  }

  #noteRead(taskDir: string, envelope: DispatchEnvelope | null): Fidelity {
    if (envelope === null) return 'narrative';
    this.note(taskDir, envelope);
    return envelope.fidelity;
  }
}
