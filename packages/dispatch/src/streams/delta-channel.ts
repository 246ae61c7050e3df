import type { Delta } from '@hansard/events';
import type { StreamItem } from './dispatch-stream.ts';

/** The deltas that wait for one iteration of a stream. */
export class DeltaChannel {
  readonly #limit: number;
  readonly #onDelta: () => void;
  #waiting: Delta[] = [];
  #dropped = 0;

  constructor(limit: number, onDelta: () => void) {
    this.#limit = limit;
    this.#onDelta = onDelta;
  }

  /** Where the channel is full, all that waits is left out: text with holes is of no use. */
  push(delta: Delta): void {
    if (this.#waiting.length >= this.#limit) {
      this.#dropped += this.#waiting.length;
      this.#waiting = [];
    }
    this.#waiting.push(delta);
    this.#onDelta();
  }

  /** What comes next, or undefined where nothing waits. */
  take(): Exclude<StreamItem, { kind: 'event' }> | undefined {
    if (this.#dropped > 0) {
      const count = this.#dropped;
      this.#dropped = 0;
      return { kind: 'deltas_dropped', count };
    }
    const delta = this.#waiting.shift();
    return delta === undefined ? undefined : { kind: 'delta', delta };
  }
}
