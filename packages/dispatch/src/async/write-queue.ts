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
