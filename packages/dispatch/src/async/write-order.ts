import type { Awaitable } from '@hansard/provider';
import { isPromise } from './is-promise.ts';

/**
 * Passes the writes of each task record to the store one after the other, in the order of their calls. Tasks do not wait
 * for each other, and without pending writes the store is called in the same tick.
 */
export class WriteOrder {
  /** The last pending write of each task. Never rejects. */
  readonly #latest = new Map<string, Promise<void>>();

  run<T>(taskDir: string, write: () => Awaitable<T>): Awaitable<T> {
    const before = this.#latest.size === 0 ? undefined : this.#latest.get(taskDir);
    const answer = before === undefined ? write() : before.then(write);
    if (isPromise(answer)) this.#track(taskDir, answer);
    return answer;
  }

  /** Resolves when no write is pending. */
  async settled(): Promise<void> {
    while (this.#latest.size > 0) await Promise.all(this.#latest.values());
  }

  #track(key: string, answer: Promise<unknown>): void {
    const release = () => {
      if (this.#latest.get(key) === settled) this.#latest.delete(key);
    };
    // The caller of the write has its error; the next write only has to wait.
    const settled: Promise<void> = answer.then(release, release);
    this.#latest.set(key, settled);
  }
}
