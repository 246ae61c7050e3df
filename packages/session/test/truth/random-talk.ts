import type { CapturedEvent } from '@hansard/events';
import { type Agent, LoggedString } from '@hansard/session';
import { receivedBy } from './played-session.ts';
import type { Random } from './random.ts';
import type { Utterance } from './random-tools.ts';
import type { TrueArrival, TrueSaying, TruthRecord } from './truth-record.ts';

export interface TalkSetting {
  readonly random: Random;
  readonly truth: TruthRecord;
  readonly agents: ReadonlyMap<string, Agent>;
  readonly utterances: readonly Utterance[];
  /** The log so far. */
  events(): Promise<readonly CapturedEvent[]>;
  /** A message reached an agent. */
  onArrival(agentId: string): void;
}

/** Random messages from people and between agents, outside of tools, with observed values and compactions. */
export class RandomTalk {
  readonly #random: Random;
  readonly #truth: TruthRecord;
  readonly #agents: ReadonlyMap<string, Agent>;
  readonly #utterances: readonly Utterance[];
  readonly #events: TalkSetting['events'];
  readonly #onArrival: TalkSetting['onArrival'];

  constructor({ random, truth, agents, utterances, events, onArrival }: TalkSetting) {
    this.#random = random;
    this.#truth = truth;
    this.#agents = agents;
    this.#utterances = utterances;
    this.#events = events;
    this.#onArrival = onArrival;
  }

  async harken(to?: string): Promise<void> {
    const [agentId, agent] = this.anyone(to);
    const text = this.#random.words();
    await agent.harken(text);
    this.#onArrival(agentId);
    this.#truth.message(agentId, text, this.#truth.say(null, text));
  }

  async inform(): Promise<void> {
    const [from, speaker] = this.anyone();
    const [to, listener] = this.anyone();
    const old = this.#utterances.filter(({ saying }) => saying.speaker === from);
    if (from === to) return;
    if (old.length > 0 && this.#random.chance(0.6)) {
      const { messageId, saying } = this.#random.pick(old);
      await this.#deliver(
        speaker,
        listener,
        new LoggedString(this.#framed(from, saying.text), messageId),
        () => saying,
      );
    } else {
      const text = this.#random.words();
      await this.#deliver(speaker, listener, text, () => this.#truth.say(from, text));
    }
  }

  async observe(): Promise<void> {
    const [agentId, agent] = this.anyone();
    const text = this.#random.words();
    await agent.observe([text]);
    this.#truth.observe(agentId, text);
  }

  async compact(): Promise<void> {
    const [agentId, agent] = this.anyone();
    const { deliveries } = this.#truth.of(agentId);
    const isKept = agent.awaitsResponse || this.#random.chance(0.5);
    const place = isKept ? this.#random.pick([...deliveries.keys()]) : null;
    const id = place === null ? undefined : receivedBy(agentId, await this.#events())[place]?.id;
    const summary = `Before: ${this.#random.words()}`;
    await agent.compact(summary, id === undefined ? {} : { keptFrom: id });
    this.#truth.compact(agentId, summary, place);
  }

  /** Passes on what reached an agent. */
  async relay(): Promise<void> {
    const [from, speaker] = this.anyone();
    const [to, listener] = this.anyone();
    const places = this.#truth
      .of(from)
      .deliveries.flatMap(({ saying }, place) => (saying === null ? [] : [place]));
    if (from === to || places.length === 0) return;
    const place = this.#random.pick(places);
    const before = this.#truth.of(from).deliveries[place];
    if (before === undefined || before.saying === null) return;
    const received = receivedBy(from, await this.#events());
    const words = new LoggedString(this.#framed(from, before.text), received[place]?.id ?? '');
    const { saying } = before;
    await this.#deliver(speaker, listener, words, () => saying, before);
  }

  async #deliver(
    speaker: Agent,
    listener: Agent,
    words: string | LoggedString,
    said: () => TrueSaying,
    before?: TrueArrival,
  ): Promise<void> {
    const { status, text } = await speaker.inform(listener, words);
    const to = listener.agentId;
    const saying = said();
    if (text === null) return this.#truth.withhold(to, saying);
    this.#onArrival(to);
    this.#truth.message(to, text, saying, {
      isAltered: status === 'altered',
      ...(before === undefined ? {} : { before }),
    });
  }

  anyone(to?: string): [string, Agent] {
    return this.#random.pick([...this.#agents].filter(([agentId]) => to === undefined || agentId === to));
  }

  #framed(from: string, text: string): string {
    return this.#random.pick([text, `[${from}]: ${text}`, `[${from}]: ${text}`, this.#random.words()]);
  }
}
