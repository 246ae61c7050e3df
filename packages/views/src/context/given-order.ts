import type { CapturedEvent } from '@hansard/events';
import { givenThrough } from './given-through.ts';

interface WithEvent {
  readonly event: CapturedEvent;
}

/**
 * Puts the events of an agent in the order in which its model is given them: what arrived while a call was in flight
 * comes after the answer to that call. Where no `agent:inference` says what a call was given, the order of the log stays.
 */
export class GivenOrder<T extends WithEvent> {
  readonly #positions = new Map<string, number>();
  #waiting: T[] = [];

  /** Takes the next event of the log. Gives those whose place nothing can change any more, in their order. */
  add(next: T): readonly T[] {
    const { event } = next;
    if (!this.#positions.has(event.id)) this.#positions.set(event.id, this.#positions.size);
    this.#waiting.push(next);
    if (event.type !== 'agent:inference') return [];
    const given = this.#lastGiven(event);
    const isLate = (waiting: T) => this.#isLate(waiting.event, event, given);
    const settled = this.#waiting.filter((waiting) => !isLate(waiting));
    this.#waiting = this.#waiting.filter(isLate);
    return settled;
  }

  /** Gives all that waits: it is now given to the model. */
  takeAll(): readonly T[] {
    const waiting = this.#waiting;
    this.#waiting = [];
    return waiting;
  }

  /** The position of the last event that a call was given; where the log does not say, of the call itself. */
  #lastGiven(inference: CapturedEvent): number {
    const through = givenThrough(inference);
    if (through === null) return -1;
    return this.#positions.get(through ?? inference.id) ?? Number.POSITIVE_INFINITY;
  }

  /** Not given to the call, and no part of its answer. A compaction stays: it stands for what came before it. */
  #isLate({ id, type, messageId }: CapturedEvent, inference: CapturedEvent, given: number): boolean {
    if (type === 'session:compaction' || id === inference.id) return false;
    const isOwn = messageId !== undefined && messageId === inference.messageId;
    return !isOwn && (this.#positions.get(id) ?? 0) > given;
  }
}
