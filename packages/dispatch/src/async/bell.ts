import { dispatchKey } from '../dispatch-key.ts';

/** Says that there may be something new, not what. A ring while nobody waits is kept; several count once. */
export class Bell {
  #rung = false;
  #waiting: { readonly promise: Promise<void>; readonly wake: () => void } | null = null;

  ring(): void {
    if (this.#waiting === null) {
      this.#rung = true;
      return;
    }
    this.#waiting.wake();
    this.#waiting = null;
  }

  /** Resolves at the next ring, or at once where it rang since the last wait. */
  wait(): Promise<void> {
    if (this.#rung) {
      this.#rung = false;
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

/** The bells of those who follow a dispatch. */
export class Bells {
  readonly #byDispatch = new Map<string, Set<Bell>>();

  add(taskDir: string, dispatchId: string, bell: Bell): () => void {
    const key = dispatchKey(taskDir, dispatchId);
    const bells = this.#byDispatch.get(key) ?? new Set();
    this.#byDispatch.set(key, bells.add(bell));
    return () => {
      bells.delete(bell);
      if (bells.size === 0) this.#byDispatch.delete(key);
    };
  }

  ring(taskDir: string, dispatchId: string): void {
    if (this.#byDispatch.size === 0) return;
    for (const bell of this.#byDispatch.get(dispatchKey(taskDir, dispatchId)) ?? []) bell.ring();
  }

  ringAll(): void {
    for (const bells of this.#byDispatch.values()) for (const bell of bells) bell.ring();
  }
}
