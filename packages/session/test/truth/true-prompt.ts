/** Something that reached an agent. */
export interface TrueDelivery {
  readonly kind: 'message' | 'result' | 'system' | 'output' | 'summary';
  readonly text: string;
}

/** Why a prompt does not have something that reached its agent. */
export type TrueState = 'shown' | 'compacted' | 'omitted' | 'superseded';

/** Messages that are shown or left out together: an answer with the results of its calls, or one message. */
interface TrueGroup {
  readonly kind: 'answer' | 'message' | 'system' | 'output';
  /** Of an answer: its text. */
  readonly text: string;
  /** How many messages it is, with the results that are still to come. */
  readonly size: number;
  /** The places of its deliveries. */
  readonly places: number[];
  isSuperseded: boolean;
}

/** What a prompt has: lines for the model, and the places of what reached the agent, both in the order of the prompt. */
export interface TruePromptNow {
  readonly lines: readonly string[];
  readonly places: readonly number[];
  /** By place. */
  readonly states: readonly TrueState[];
}

/** The prompt of one agent as it grows. It takes things in the order in which the model is given them. */
export class TruePrompt {
  readonly #deliveries: readonly TrueDelivery[];
  readonly #most: number;
  readonly #groups: TrueGroup[] = [];
  /** By place: the number of its group; of a summary, of the next group. */
  readonly #groupOf = new Map<number, number>();
  #latestAnswer = -1;
  #compactedUpTo = 0;
  #summary = -1;
  #start = 0;

  /** `most`: how many messages a prompt may have; system prompts are not counted. */
  constructor(deliveries: readonly TrueDelivery[], most: number) {
    this.#deliveries = deliveries;
    this.#most = most;
  }

  /** A message, a system prompt, or observed output, which joins the output directly before it. */
  take(place: number): void {
    const { kind } = this.#delivery(place);
    const last = this.#groups.at(-1);
    if (kind === 'output' && last?.kind === 'output') last.places.push(place);
    else {
      const groupKind = kind === 'system' || kind === 'output' ? kind : 'message';
      this.#groups.push({ kind: groupKind, text: '', size: 1, places: [place], isSuperseded: false });
    }
    this.#groupOf.set(place, this.#groups.length - 1);
    this.#drop();
  }

  /** The next result of the latest answer. */
  takeResult(place: number): void {
    this.#groups[this.#latestAnswer]?.places.push(place);
    this.#groupOf.set(place, this.#latestAnswer);
  }

  answer(text: string, calls: number): void {
    for (const group of this.#groups) group.isSuperseded ||= group.kind === 'output';
    this.#latestAnswer = this.#groups.length;
    this.#groups.push({ kind: 'answer', text, size: 1 + calls, places: [], isSuperseded: false });
    this.#drop();
  }

  /** `keptFrom`: the place of the first that stays; null: none stays, as if it is not in the prompt yet. */
  compact(place: number, keptFrom: number | null): void {
    const kept = keptFrom === null ? undefined : this.#groupOf.get(keptFrom);
    this.#compactedUpTo = Math.max(this.#compactedUpTo, kept ?? this.#groups.length);
    while (this.#groups[this.#compactedUpTo]?.kind === 'system') this.#compactedUpTo += 1;
    this.#start = Math.max(this.#start, this.#compactedUpTo);
    this.#summary = place;
    this.#groupOf.set(place, this.#groups.length);
  }

  get now(): TruePromptNow {
    const lines: string[] = [];
    const places: number[] = [];
    const add = (place: number) => {
      const { kind, text } = this.#delivery(place);
      places.push(place);
      lines.push(`${kind === 'result' ? 'tool' : kind === 'system' ? 'system' : 'user'}: ${text}`);
    };
    for (const { kind, places: own } of this.#groups.slice(0, this.#start))
      if (kind === 'system') own.map(add);
    if (this.#summary >= 0) add(this.#summary);
    const omitted = this.#sizeOf(this.#compactedUpTo, this.#start);
    if (omitted > 0) lines.push(`user: [${omitted} earlier messages are not shown.]`);
    for (const group of this.#groups.slice(this.#start)) {
      if (group.isSuperseded) continue;
      if (group.kind === 'answer') lines.push(`assistant: ${group.text}`);
      const before = lines.length;
      group.places.map(add);
      if (group.kind === 'output')
        lines.push(
          `user: ${lines
            .splice(before)
            .map((line) => line.slice('user: '.length))
            .join('\n')}`,
        );
    }
    return { lines, places, states: this.#deliveries.map((_, place) => this.#stateOf(place)) };
  }

  #stateOf(place: number): TrueState {
    const number = this.#groupOf.get(place);
    const group = this.#groups[number ?? -1];
    if (this.#delivery(place).kind === 'summary') return place === this.#summary ? 'shown' : 'compacted';
    if (number === undefined || group === undefined || group.kind === 'system') return 'shown';
    if (number < this.#compactedUpTo) return 'compacted';
    if (group.isSuperseded) return 'superseded';
    return number < this.#start ? 'omitted' : 'shown';
  }

  /** Leaves out the oldest groups while there are too many messages; the newest stays. */
  #drop(): void {
    while (
      this.#start < this.#groups.length - 1 &&
      this.#sizeOf(this.#start, this.#groups.length) > this.#most
    )
      this.#start += 1;
  }

  #sizeOf(from: number, to: number): number {
    return this.#groups
      .slice(from, to)
      .reduce((sum, { kind, size, isSuperseded }) => sum + (kind === 'system' || isSuperseded ? 0 : size), 0);
  }

  #delivery(place: number): TrueDelivery {
    const delivery = this.#deliveries[place];
    if (delivery === undefined) throw new RangeError(`There is no delivery ${place}.`);
    return delivery;
  }
}
