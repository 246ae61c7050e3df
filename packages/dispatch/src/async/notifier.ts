import { type DispatchRef, dispatchKey } from '../store/dispatch-ref.ts';

/** Signals that something may be new. A signal that nobody waits for is kept; several count as one. */
export class Notifier {
  #isNotified = false;
  #waiting: { readonly promise: Promise<void>; readonly wake: () => void } | null = null;

  notify(): void {
    if (this.#waiting === null) {
      this.#isNotified = true;
      return;
    }
    this.#waiting.wake();
    this.#waiting = null;
  }

  /** Resolves at the next signal, or at once if there was one since the last wait. */
  wait(): Promise<void> {
    if (this.#isNotified) {
      this.#isNotified = false;
      return Promise.resolve();
    }
    if (this.#waiting === null) {
      let wake = () => {};
      const promise = new Promise<void>((resolve) => {
        wake = resolve;
      });
      this.#waiting = { promise, wake };
    }
    return this.#waiting.promise;
  }
}

/** The notifiers of the followers of each dispatch. */
export class Notifiers {
  readonly #byDispatch = new Map<string, Set<Notifier>>();

  add(dispatch: DispatchRef, notifier: Notifier): () => void {
    const key = dispatchKey(dispatch);
    const notifiers = this.#byDispatch.get(key) ?? new Set();
    this.#byDispatch.set(key, notifiers.add(notifier));
    return () => {
      notifiers.delete(notifier);
      if (notifiers.size === 0) this.#byDispatch.delete(key);
    };
  }

  notify(dispatch: DispatchRef): void {
    if (this.#byDispatch.size === 0) return;
    for (const notifier of this.#byDispatch.get(dispatchKey(dispatch)) ?? []) notifier.notify();
  }

  notifyAll(): void {
    for (const notifiers of this.#byDispatch.values()) for (const notifier of notifiers) notifier.notify();
  }
}
