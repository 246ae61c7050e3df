import type { CapturedEvent } from '@hansard/events';
import { isPlainObject } from '@hansard/events/plain';

interface WithEvent {
  readonly event: CapturedEvent;
}

/**
 * Puts the events of an agent in the order in which its model is given them: an event that arrived during a call comes
 * after the answer to that call. If no `agent:inference` records what a call was given, the order is that of the log.
 */
export class GivenOrder<T extends WithEvent> {
  readonly #positions = new Map<string, number>();
  readonly #numberOf: (id: string) => number | null;
  #waiting: T[] = [];

  /** `numberOf`: the place in the log of an event that is not on the path, such as a rewind. Absent: all events are added or skipped. */
  constructor(numberOf: (id: string) => number | null = () => null) {
    this.#numberOf = numberOf;
  }

  /** Takes the next event of the log. Returns the events whose place is now final, in order. */
  add(next: T): readonly T[] {
    const { event } = next;
    this.skip(event);
    this.#waiting.push(next);
    if (event.type !== 'agent:inference') return [];
    const given = this.#lastGiven(event);
    const isLate = (waiting: T) => this.#isLate(waiting.event, event, given);
    const settled = this.#waiting.filter((waiting) => !isLate(waiting));
    this.#waiting = this.#waiting.filter(isLate);
    return settled;
  }

  /** Takes an event of the log that no prompt has. */
  skip({ id }: CapturedEvent): void {
    if (!this.#positions.has(id)) this.#positions.set(id, this.#positions.size);
  }

  /** Returns all waiting events: the model is given them now. */
  takeAll(): readonly T[] {
    const waiting = this.#waiting;
    this.#waiting = [];
    return waiting;
  }

  /** The position of the last event that a call was given; if that is not recorded, of the `agent:inference` itself. */
  #lastGiven(inference: CapturedEvent): number {
    const through = givenThrough(inference);
    if (through === null) return -1;
    return this.#positions.get(through ?? inference.id) ?? this.#lastBefore(through ?? inference.id);
  }

  /** The position of the last event that the log has before an event that is not on the path. */
  #lastBefore(id: string): number {
    const number = this.#numberOf(id);
    if (number === null) return Number.POSITIVE_INFINITY;
    let last = -1;
    for (const [known, position] of this.#positions)
      if ((this.#numberOf(known) ?? Number.POSITIVE_INFINITY) < number) last = Math.max(last, position);
    return last;
  }

  /** Whether the call was not given the event, and the event is not part of its answer. Never a compaction: it replaces earlier events. */
  #isLate({ id, type, messageId }: CapturedEvent, inference: CapturedEvent, given: number): boolean {
    if (type === 'session:compaction' || id === inference.id) return false;
    const isOwn = messageId !== undefined && messageId === inference.messageId;
    return !isOwn && (this.#positions.get(id) ?? 0) > given;
  }
}

/**
 * The id of the last event of the agent that a model call was given, as its `agent:inference` records it; null: none.
 * Undefined: not recorded, for example by an engine that keeps its own context.
 */
export function givenThrough({ type, data }: CapturedEvent): string | null | undefined {
  if (type !== 'agent:inference' || !isPlainObject(data.context)) return undefined;
  const { through } = data.context;
  return typeof through === 'string' || through === null ? through : undefined;
}
