/** The audience of a text while its deliveries arrive; its fields are those of an `Audience`. */
export class OpenAudience {
  readonly #missing: Set<string>;
  readonly #receivers = new Set<string>();

  readonly #speakerId: string | null;

  /** `others`: the ids of the agents that could receive it, beside its speaker; null: no agent said it. */
  constructor(speakerId: string | null, others: readonly string[]) {
    this.#speakerId = speakerId;
    this.#missing = new Set(others);
  }

  get receivers(): readonly string[] {
    return [...this.#receivers];
  }

  get missing(): readonly string[] {
    return [...this.#missing];
  }

  get isPublic(): boolean {
    return this.#missing.size === 0;
  }

  reached(agentId: string): void {
    if (agentId === this.#speakerId) return;
    this.#receivers.add(agentId);
    this.#missing.delete(agentId);
  }
}
