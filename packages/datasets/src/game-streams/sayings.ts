import type { CapturedEvent } from '@hansard/events';
import type { GameAudience } from './company.ts';
import { type Moment, originOf, type StreamLine } from './stream-lines.ts';

/** An utterance: its text if it is one block of a message, and the ids by which deliveries may name it: also those of its deliveries. */
export interface Saying {
  readonly moment: Moment;
  readonly message: string;
  readonly ids: Set<string>;
  readonly audience: GameAudience;
  /** Whether it is a whisper regardless of its receivers. */
  readonly isWhisper: boolean;
}

/** Utterances without a line, because their receivers are not all known yet. */
export class Sayings {
  readonly #runId: string;
  readonly #nameOf: (agentId: string) => string;
  #open: readonly Saying[] = [];

  constructor(runId: string, nameOf: (agentId: string) => string) {
    this.#runId = runId;
    this.#nameOf = nameOf;
  }

  /** The lines of utterances that all others have received. */
  add(sayings: readonly Saying[]): StreamLine[] {
    this.#open = [...this.#open, ...sayings];
    return this.#takePublic();
  }

  /** Takes a delivery. Returns the line of an utterance that has now reached all. */
  deliver({ id, substance, agentId = '' }: CapturedEvent): StreamLine[] {
    const carried = this.#open.filter(({ ids }) => substance !== undefined && ids.has(substance));
    for (const { audience, ids } of carried) {
      ids.add(id);
      audience.reached(agentId);
    }
    return carried.length === 0 ? [] : this.#takePublic();
  }

  /** The lines of utterances that will not reach more agents: whispers to some. */
  settle(isOver: (saying: Saying) => boolean = () => true): StreamLine[] {
    return this.#take(isOver, (saying) => this.whisper(saying));
  }

  /** The line of a text that reaches no further agents. */
  close(saying: Omit<Saying, 'ids'>): StreamLine {
    return saying.audience.isPublic ? this.chat(saying) : this.whisper(saying);
  }

  /** The line of an utterance to its receivers. */
  whisper({ moment: { event, agent: speaker, turn }, message, audience }: Omit<Saying, 'ids'>): StreamLine {
    const to = audience.receivers.map(this.#nameOf);
    const line = { timestamp: event.timestamp, turn, speaker, to, message, ...originOf(event, this.#runId) };
    return { stream: 'whispers', line };
  }

  /** The line of an utterance to all. */
  chat({ moment: { event, agent: speaker, turn }, message }: Pick<Saying, 'moment' | 'message'>): StreamLine {
    const line = { timestamp: event.timestamp, turn, speaker, message, ...originOf(event, this.#runId) };
    return { stream: 'chat', line };
  }

  #takePublic(): StreamLine[] {
    return this.#take(
      (saying) => !saying.isWhisper && saying.audience.isPublic,
      (saying) => this.chat(saying),
    );
  }

  #take(isDue: (saying: Saying) => boolean, lineOf: (saying: Saying) => StreamLine): StreamLine[] {
    if (this.#open.length === 0) return [];
    const due = this.#open.filter(isDue);
    if (due.length > 0) this.#open = this.#open.filter((saying) => !due.includes(saying));
    return due.map(lineOf);
  }
}
