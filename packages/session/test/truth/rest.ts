import { setImmediate } from 'node:timers/promises';

/** Counts what runs in a session. At rest nothing runs: models, tools and agents wait for the play. */
export class Rest {
  #running = 0;
  #onRest: () => void = () => {};

  /** `count` more activities run, such as the speakers that a tool asks. */
  begin(count = 1): void {
    this.#running += count;
  }

  /** An activity waits for the play, or is over. */
  end(): void {
    this.#running -= 1;
    if (this.#running === 0) this.#onRest();
  }

  /** Starts an activity. Resolves at rest, when the session has taken in what its log has. */
  async until(start: () => void): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#onRest = resolve;
    this.#running = 1;
    start();
    await promise;
    await setImmediate();
  }

  /** Nothing runs any more, because the process is gone. */
  stop(): void {
    this.#running = 0;
    this.#onRest();
  }
}
