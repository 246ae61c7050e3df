import type { Awaitable } from '@hansard/provider';
import { isPromise } from './is-promise.ts';

/**
 * Hands the writes of each task record to the store one after the other, in the order of their calls. Tasks don't wait
 * for each other, and a store that answers at once is called at once.
 */
export class WriteOrder {
  /** The last write under way, by task. Never rejects. */
  readonly #latest = new Map<string, Promise<void>>();

  run<T>(taskDir: string, write: () => Awaitable<T>): Awaitable<T> {
    const before = this.#latest.size === 0 ? undefined : this.#latest.get(taskDir);
    const answer = before === undefined ? write() : before.then(write);
    if (isPromise(answer)) this.#hold(taskDir, answer);
    return answer;
  }

  /** Resolves when no write is under way. */
  async settled(): Promise<void> {
    while (this.#latest.size > 0) await Promise.all(this.#latest.values());
  }

  #hold(key: string, answer: Promise<unknown>): void {
    const release = () => {
      if (this.#latest.get(key) === settled) this.#latest.delete(key);
    };
    // Who asked for the write has its error; the next one only has to wait.
    const settled: Promise<void> = answer.then(release, release);
    this.#latest.set(key, settled);
  }
}
