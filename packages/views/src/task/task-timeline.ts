import type { CapturedEvent, DispatchEnvelope } from '@hansard/events';
import { AgentNames } from '../agents/agent-names.ts';
import { eventWords } from '../words/row-words.ts';
import type { Words } from '../words/words.ts';

/** The events of a dispatch, read as they are needed. */
export interface TimelineSource {
  readonly envelope: DispatchEnvelope;
  /** All its events in pages. Called once, when the timeline reaches the start of the dispatch. */
  pages(): AsyncIterable<Iterable<CapturedEvent>> | Iterable<Iterable<CapturedEvent>>;
  /** Whether an event is in the timeline. Absent: every event is. */
  passes?(event: CapturedEvent): boolean;
}

/** One event of a timeline. */
export interface TimelineRow {
  readonly dispatchId: string;
  /** The role of the dispatch. */
  readonly role: string;
  readonly position: number;
  readonly event: CapturedEvent;
  /** The event in words, with the agent's name if it is known. */
  readonly words: Words;
}

/**
 * The events of several dispatches by time, then dispatch. The events of one dispatch keep their order, including when its clock went back, and
 * a dispatch is read from the time of its start on. Holds one page of each dispatch that is open at that time.
 */
export async function* taskTimeline(sources: readonly TimelineSource[]): AsyncGenerator<TimelineRow> {
  const waiting = sources.toSorted((one, other) => compare(other.envelope.startedAt, one.envelope.startedAt));
  const open: Head[] = [];
  try {
    for (;;) {
      while (isDue(waiting.at(-1), open[0])) {
        const head = new Head(waiting.pop() as TimelineSource);
        if (await head.advance()) insert(open, head);
        else await head.close();
      }
      const [first] = open;
      if (first === undefined) return;
      yield first.row();
      open.shift();
      if (await first.advance()) insert(open, first);
      else await first.close();
    }
  } finally {
    for (const head of open) await head.close();
  }
}

/** Whether a dispatch that is not open can have the next event. */
function isDue(source: TimelineSource | undefined, head: Head | undefined): boolean {
  if (source === undefined) return false;
  return head === undefined || compare(source.envelope.startedAt, head.time) <= 0;
}

/** A dispatch at its next event. */
class Head {
  readonly #source: TimelineSource;
  readonly #names = new AgentNames();
  readonly #events: AsyncGenerator<CapturedEvent>;
  #event: CapturedEvent | null = null;
  #position = -1;
  /** The latest time so far: an event with an earlier one does not overtake those before it. */
  time = '';

  constructor(source: TimelineSource) {
    this.#source = source;
    this.#events = eventsOf(source);
  }

  get dispatchId(): string {
    return this.#source.envelope.dispatchId;
  }

  /** Goes to the next event that passes. False after the last one. */
  async advance(): Promise<boolean> {
    for (;;) {
      const next = await this.#events.next();
      if (next.done === true) return false;
      this.#position += 1;
      const event = next.value;
      if (event.timestamp > this.time) this.time = event.timestamp;
      if (this.#source.passes?.(event) ?? true) {
        this.#event = event;
        return true;
      }
      this.#names.learn(event);
    }
  }

  row(): TimelineRow {
    const event = this.#event as CapturedEvent;
    const { dispatchId, role } = this.#source.envelope;
    return { dispatchId, role, position: this.#position, event, words: eventWords(event, this.#names) };
  }

  async close(): Promise<void> {
    await this.#events.return(undefined);
  }
}

async function* eventsOf({ pages }: TimelineSource): AsyncGenerator<CapturedEvent> {
  for await (const page of pages()) yield* page;
}

/** Inserts a head into those that are in order. */
function insert(open: Head[], head: Head): void {
  let [low, high] = [0, open.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (isBefore(open[middle] as Head, head)) low = middle + 1;
    else high = middle;
  }
  open.splice(low, 0, head);
}

function isBefore(one: Head, other: Head): boolean {
  return (compare(one.time, other.time) || compare(one.dispatchId, other.dispatchId)) < 0;
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
