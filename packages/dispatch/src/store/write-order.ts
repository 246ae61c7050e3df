import type { Awaitable } from '@hansard/provider';
import { dispatchKey } from '../dispatch-key.ts';
import { isPromise } from './is-promise.ts';

/**
 * Hands the writes of each dispatch to the store one after the other, in the order in which they were asked for.
 * Dispatches don't wait for each other, and a store that answers at once is called at once.
 */
export class WriteOrder {
  /** The last write under way, by dispatch. Never rejects. */
  readonly #latest = new Map<string, Promise<void>>();

  run<T>(taskDir: string, dispatchId: string, write: () => Awaitable<T>): Awaitable<T> {
    const before = this.#latest.size === 0 ? undefined : this.#latest.get(dispatchKey(taskDir, dispatchId));
    const answer = before === undefined ? write() : before.then(write);
    if (isPromise(answer)) this.#hold(dispatchKey(taskDir, dispatchId), answer);
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
