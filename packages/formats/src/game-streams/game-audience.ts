import { OpenAudience } from '@hansard/views';

/** The audience of a text in a game while its deliveries arrive. Public is only what the log shows to be public. */
export class GameAudience {
  /** Whether it is known now who must receive the text. If not, the end of the log decides. */
  readonly isCertain: boolean;
  readonly #others: () => readonly string[];
  readonly #audience: OpenAudience;
  readonly #isAlone: boolean;

  /** `others`: the ids of the agents that must receive the text, by all that the log says so far. */
  constructor(speakerId: string, isCertain: boolean, others: () => readonly string[]) {
    const known = isCertain ? others() : [];
    this.isCertain = isCertain;
    this.#others = others;
    this.#audience = new OpenAudience(speakerId, known);
    this.#isAlone = known.length === 0;
  }

  get receivers(): readonly string[] {
    return this.#audience.receivers;
  }

  /** Whether others are known, and all of them have received the text. */
  get isPublic(): boolean {
    if (this.isCertain) return !this.#isAlone && this.#audience.isPublic;
    const received = new Set(this.receivers);
    const others = this.#others();
    return others.length > 0 && others.every((agentId) => received.has(agentId));
  }

  reached(agentId: string): void {
    this.#audience.reached(agentId);
  }
}
