import { type DispatchRef, dispatchKey } from '../store/dispatch-ref.ts';

/** Signals that something may be new. A signal that nobody waits for is kept; several count as one. */
export class Notifier {
  #isNotified = false;
  #waiting: { readonly promise: Promise<void>; readonly wake: () => void } | null = null;

  /** `dispatch`: where something may be new, if that is known. */
  notify(_dispatch?: DispatchRef): void {
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

/** The notifiers of the followers of each dispatch and of each task. */
export class Notifiers {
  /** Whether nobody follows. Set here only: a writer reads it after each append. */
  isEmpty = true;
  /** By the key of a dispatch or, which has no line break, by the `taskDir` of a task. */
  readonly #byScope = new Map<string, Set<Notifier>>();

  /** Adds a notifier of a dispatch, or of all dispatches of a task. The answer removes it. */
  add(scope: DispatchRef | { readonly taskDir: string }, notifier: Notifier): () => void {
    const key = 'dispatchId' in scope ? dispatchKey(scope) : scope.taskDir;
    const notifiers = this.#byScope.get(key) ?? new Set();
    this.#byScope.set(key, notifiers.add(notifier));
    this.isEmpty = false;
    return () => {
      notifiers.delete(notifier);
      if (notifiers.size === 0) this.#byScope.delete(key);
      this.isEmpty = this.#byScope.size === 0;
    };
  }

  notify(dispatch: DispatchRef): void {
    if (this.isEmpty) return;
    for (const notifier of this.#byScope.get(dispatchKey(dispatch)) ?? []) notifier.notify(dispatch);
    for (const notifier of this.#byScope.get(dispatch.taskDir) ?? []) notifier.notify(dispatch);
  }

  notifyAll(): void {
    for (const notifiers of this.#byScope.values()) for (const notifier of notifiers) notifier.notify();
  }
}
