import { type Clock, storeErrors } from '@hansard/provider';
import { isSystemError } from '@hansard/store-kit';

/** Milliseconds. */
const delay = 1_000;

/**
 * Work that may wait for a second, or until the store closes, such as the index of a task. A later call with the same key
 * replaces the work. What fails is not repeated: nothing depends on it, and the next change does it again.
 */
export class LaterWork {
  readonly #clock: Clock;
  readonly #work = new Map<string, () => void>();
  #stop: (() => void) | null = null;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  add(key: string, work: () => void): void {
    this.#work.set(key, work);
    this.#stop ??= this.#clock.after(
      delay,
      () => {
        this.#stop = null;
        this.doAll();
      },
      { keepsProcess: false },
    );
  }

  remove(key: string): void {
    this.#work.delete(key);
  }

  /** Does all work now. */
  doAll(): void {
    this.#stop?.();
    this.#stop = null;
    const works = [...this.#work.values()];
    this.#work.clear();
    for (const work of works) {
      try {
        work();
      } catch (error) {
        if (!storeErrors.is(error) && !isSystemError(error)) throw error;
      }
    }
  }
}
