import type { CapturedEvent } from '@hansard/events';
import { AgentNames } from '../agents/agent-names.ts';
import { eventWords } from '../words/row-words.ts';
import type { Words } from '../words/words.ts';
import { type Deed, deedOf, firstDifferentField } from './deed.ts';

/** An event at which two logs part. */
export interface PartingEvent {
  readonly position: number;
  readonly id: string;
  readonly words: Words;
}

/** The first place where two logs do not say and do the same. */
export interface FirstDifference {
  /** How many texts, messages, calls, results and ends are the same before it. */
  readonly same: number;
  /** `kind`, `agent`, a field such as `text` or `input`, or `end of the log` if one has nothing more. */
  readonly field: string;
  /** The event of each log; null: it has nothing more. */
  readonly one: PartingEvent | null;
  readonly other: PartingEvent | null;
}

type Events = AsyncIterable<CapturedEvent> | Iterable<CapturedEvent>;

/**
 * The first difference between what two logs say and do: texts, thoughts, messages, calls with their inputs, results with status and output, ends. Ids,
 * times, figures and records of the harness are not compared. An agent is the same in both logs if it appears first at the same place. Null if there
 * is none. Reads both logs once, and keeps one event of each.
 */
export async function firstDifference(one: Events, other: Events): Promise<FirstDifference | null> {
  const [left, right] = [new DeedReader(one), new DeedReader(other)];
  try {
    for (let same = 0; ; same += 1) {
      const [a, b] = [await left.next(), await right.next()];
      if (a === null && b === null) return null;
      const field = a === null || b === null ? 'end of the log' : differenceOf(a, b);
      if (field !== null) return { same, field, one: a?.event ?? null, other: b?.event ?? null };
    }
  } finally {
    await left.close();
    await right.close();
  }
}

function differenceOf(one: ReadDeed, other: ReadDeed): string | null {
  if (one.deed.kind === other.deed.kind && one.agent !== other.agent) return 'agent';
  return firstDifferentField(one.deed, other.deed);
}

interface ReadDeed {
  readonly deed: Deed;
  /** The number of its agent, in the order of first deeds. */
  readonly agent: number;
  readonly event: PartingEvent;
}

class DeedReader {
  readonly #events: AsyncIterator<CapturedEvent> | Iterator<CapturedEvent>;
  readonly #names = new AgentNames();
  readonly #agents = new Map<string, number>();
  #position = -1;

  constructor(events: Events) {
    this.#events =
      Symbol.asyncIterator in events ? events[Symbol.asyncIterator]() : events[Symbol.iterator]();
  }

  async next(): Promise<ReadDeed | null> {
    for (;;) {
      const read = await this.#events.next();
      if (read.done === true) return null;
      this.#position += 1;
      const event = read.value;
      const deed = deedOf(event);
      if (deed === null) {
        this.#names.learn(event);
        continue;
      }
      const { agentId = '', id } = event;
      const agent = this.#agents.get(agentId) ?? this.#agents.size;
      this.#agents.set(agentId, agent);
      return { deed, agent, event: { position: this.#position, id, words: eventWords(event, this.#names) } };
    }
  }

  async close(): Promise<void> {
    await this.#events.return?.();
  }
}
