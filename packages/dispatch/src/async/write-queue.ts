import type { Awaitable } from '@hansard/provider';
import { isPromise } from './is-promise.ts';

/** The writes of one dispatch. The store receives them one after the other, in the order of their calls. */
export class WriteQueue {
  readonly #haltsOnFailure: boolean;
  /** The last pending write. Null: none is pending. Set here only. */
  latest: Promise<void> | null = null;
  /** The error of writes that the store has not received yet. Null: the queue works. */
  #stopped: Error | null = null;
  /** The error of a write that was refused while others were pending. */
  #refused: Error | null = null;

  /** `haltsOnFailure`: writes that wait for a failed one fail with its error, instead of being made. */
  constructor(haltsOnFailure: boolean) {
    this.#haltsOnFailure = haltsOnFailure;
  }

  /** Calls the store after the pending writes. Returns null if none is pending and the store answers synchronously. */
  run<T>(call: () => Awaitable<T>, onDone: (result: T) => void): Promise<void> | null {
    if (this.latest !== null) {
      if (this.#refused !== null) return Promise.reject(this.#refused);
      const before = this.#haltsOnFailure ? this.latest : this.latest.catch(() => {});
      const made = before.then(() => {
        if (this.#stopped !== null) throw this.#stopped;
        return call();
      });
      return this.follow(made.then(onDone));
    }
    let answer: Awaitable<T>;
    try {
      answer = call();
    } catch (error) {
      return Promise.reject(error);
    }
    if (isPromise(answer)) return this.follow(answer.then(onDone));
    onDone(answer);
    return null;
  }

  /** Fails at once. With `haltsOnFailure`, so do the writes after it, until no write is pending. */
  refuse(error: Error): Promise<void> {
    if (this.#haltsOnFailure && this.latest !== null) this.#refused = error;
    return Promise.reject(error);
  }

  /** Resolves when no write is pending, whether the writes succeeded or failed. */
  async settled(): Promise<void> {
    while (this.latest !== null) await this.latest.catch(() => {});
  }

  /** Writes that wait fail with this error, instead of being made. */
  stop(error: Error): void {
    this.#stopped = error;
  }

  /** Lets later writes wait for one that the store has received. */
  follow(write: Promise<void>): Promise<void> {
    this.latest = write;
    const onSettled = () => {
      if (this.latest !== write) return;
      this.latest = null;
      this.#refused = null;
    };
    write.then(onSettled, onSettled);
    return write;
  }
}
