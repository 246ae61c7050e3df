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

  /** If the channel is full, all waiting deltas are dropped: text with gaps is of no use. */
  push(delta: Delta): void {
    if (this.#waiting.length >= this.#limit) {
      this.#dropped += this.#waiting.length;
      this.#waiting = [];
    }
    this.#waiting.push(delta);
    this.#onDelta();
  }

  /** The next item, or undefined if none waits. */
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
