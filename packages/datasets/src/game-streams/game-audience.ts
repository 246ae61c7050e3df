import { OpenAudience } from '@hansard/views';

/** The audience of a text in a game while its deliveries arrive. Public is only what the log shows to be public. */
export class GameAudience extends OpenAudience {
  readonly #isAlone: boolean;

  /** `others`: the ids of the agents that must receive the text. */
  constructor(speakerId: string, others: readonly string[]) {
    super(speakerId, others);
    this.#isAlone = others.length === 0;
  }

  /** Whether there are others, and all of them have received the text. */
  override get isPublic(): boolean {
    return !this.#isAlone && super.isPublic;
  }
}
