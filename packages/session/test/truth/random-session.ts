import type { DispatchStoreProvider, ModelToolCall } from '@hansard/provider';
import { type Agent, LoggedString, type Session } from '@hansard/session';
import { prepare } from '../prepare.ts';
import { hostOf } from '../scripted.ts';
import { type GatedCall, GatedModel } from './gated-model.ts';
import {
  type AwaitedResponse,
  type GivenPrompt,
  type PlayedSession,
  receivedBy,
  withReplay,
} from './played-session.ts';
import { Random } from './random.ts';
import { randomHook, witness } from './random-hook.ts';
import { randomTools, type ToolSetting, toolNames, type Utterance } from './random-tools.ts';
import { type TrueArrival, type TrueCall, type TrueSaying, TruthRecord } from './truth-record.ts';

interface OpenCall {
  readonly gated: GatedCall;
  readonly truth: TrueCall;
}

/** Plays one session. At any time at most one of its agents runs; all others wait for their models. */
export async function playRandomSession(
  seed: number,
  steps: number,
  provider?: DispatchStoreProvider,
): Promise<PlayedSession> {
  const play = new RandomPlay(seed, provider);
  await play.begin();
  for (let step = 0; step < steps; step += 1) {
    await play.step();
    if (step === Math.floor(steps / 2) && seed % 3 === 0) await play.loadAgain();
  }
  while ((await play.countEvents()) < leastEvents) await play.step();
  return play.end();
}

const leastEvents = 60;

/** Of the prompts of every fourth session. */
const mostMessages = 6;

class RandomPlay {
  readonly #random: Random;
  readonly #truth: TruthRecord;
  readonly #prepared: ReturnType<typeof prepare>;
  readonly #utterances: Utterance[] = [];
  readonly #prompts: GivenPrompt[] = [];
  readonly #awaited: AwaitedResponse[] = [];
  /** By agent: the calls that wait for an answer. */
  readonly #open = new Map<string, OpenCall>();
  /** The agents that were asked and have not said anything yet. */
  readonly #busy = new Set<string>();
  /** By agent: the call whose tool asked it, until its model is called. */
  readonly #askedBy = new Map<string, string>();
  readonly #agents = new Map<string, Agent>();
  readonly #seed: number;
  #session: Session | null = null;
  #onRest: () => void = () => {};
  #races = 0;
  #calls = 0;
  #ids = 0;

  constructor(seed: number, provider?: DispatchStoreProvider) {
    this.#seed = seed;
    this.#prepared = prepare(provider);
    this.#random = new Random(seed);
    this.#truth = new TruthRecord(this.#isFaded ? mostMessages : Number.POSITIVE_INFINITY);
  }

  async begin(): Promise<void> {
    const { root, session } = await this.#prepared.create({ ...this.#options, systemPrompt: 'You lead.' });
    this.#truth.enter(root.agentId, 'You lead.');
    for (let number = 0; number < 3; number += 1) {
      const agentId = session.allocateAgentId();
      session.logAgentCreated(agentId, { name: `Name ${number}` });
      session.logTranscriptEntry(agentId, { role: 'system', content: `You are ${agentId}.` });
      this.#truth.enter(agentId, `You are ${agentId}.`);
    }
    await session.flushed();
    await this.#take(session);
  }

  /** Something happens: a message, a question, an answer of a model. */
  async step(): Promise<void> {
    const next = this.#random.next();
    if (next < 0.18) await this.#harken();
    else if (next < 0.22) await this.#observe();
    else if (next < 0.26) await this.#compact();
    else if (next < 0.45) await this.#inform();
    else if (next < 0.55) await this.#relay();
    else if (next < 0.75) await this.#ask();
    else if (next < 0.97) await this.#answer();
    else await this.#session?.evictAgent(this.#random.pick([...this.#agents.keys()]));
    this.#noteAwaited();
  }

  async countEvents(): Promise<number> {
    return (await this.#prepared.events()).length;
  }

  async loadAgain(): Promise<void> {
    await this.#drain();
    await this.#session?.close();
    const { session } = await this.#prepared.load(this.#options);
    await this.#take(session);
    this.#noteAwaited();
  }

  async end(): Promise<PlayedSession> {
    if (this.#races === 0) await this.#race();
    await this.#drain();
    await this.#session?.close();
    const events = await this.#prepared.events();
    await this.#prepared.store.close();
    return {
      events,
      truth: this.#truth,
      prompts: this.#prompts,
      awaited: this.#awaited,
      races: this.#races,
    };
  }

  get #isFaded(): boolean {
    return this.#seed % 4 === 0;
  }

  get #options() {
    const random = this.#random;
    const truth = this.#truth;
    const setting: ToolSetting = {
      random,
      truth,
      utterances: this.#utterances,
      idle: () => [...this.#agents.keys()].filter((agentId) => !this.#busy.has(agentId)),
      respond: async (call, agentId) => {
        this.#busy.add(agentId);
        this.#askedBy.set(agentId, call.toolCallId);
        const { text, messageId } = await hostOf(call).respond(agentId);
        return { text, ...this.#utteredBy(agentId, text, messageId) };
      },
    };
    return {
      createId: () => {
        this.#ids += 1;
        return `e${this.#ids}`;
      },
      model: new GatedModel((gated) => this.#called(gated)),
      tools: [randomTools(setting)],
      ...(this.#isFaded ? { context: { name: 'lastMessages', count: mostMessages } as const } : {}),
      hooks: [randomHook('censor', random, truth), randomHook('editor', random, truth), witness(truth)],
    };
  }

  async #take(session: Session): Promise<void> {
    this.#session = session;
    for (const { agentId } of session.listAgents())
      this.#agents.set(agentId, await session.getAgent(agentId));
  }

  async #harken(to?: string): Promise<void> {
    const [agentId, agent] = this.#anyone(to);
    const text = this.#random.words();
    await agent.harken(text);
    this.#arrived(agentId);
    this.#truth.message(agentId, text, this.#truth.say(null, text));
  }

  async #inform(): Promise<void> {
    const [from, speaker] = this.#anyone();
    const [to, listener] = this.#anyone();
    const old = this.#utterances.filter(({ saying }) => saying.speaker === from);
    if (from === to) return;
    if (old.length > 0 && this.#random.chance(0.6)) {
      const { messageId, saying } = this.#random.pick(old);
      await this.#deliver(
        speaker,
        listener,
        new LoggedString(this.#framed(from, saying.text), messageId),
        saying,
      );
    } else {
      const text = this.#random.words();
      await this.#deliver(speaker, listener, text, this.#truth.say(from, text));
    }
  }

  async #observe(): Promise<void> {
    const [agentId, agent] = this.#anyone();
    const text = this.#random.words();
    await agent.observe([text]);
    this.#truth.observe(agentId, text);
  }

  async #compact(): Promise<void> {
    const [agentId, agent] = this.#anyone();
    const { deliveries } = this.#truth.of(agentId);
    const isKept = agent.awaitsResponse || this.#random.chance(0.5);
    const place = isKept ? this.#random.pick([...deliveries.keys()]) : null;
    const id = place === null ? undefined : receivedBy(agentId, await this.#prepared.events())[place]?.id;
    const summary = `Before: ${this.#random.words()}`;
    await agent.compact(summary, id === undefined ? {} : { keptFrom: id });
    this.#truth.compact(agentId, summary, place);
  }

  /** Passes on what reached an agent. */
  async #relay(): Promise<void> {
    const [from, speaker] = this.#anyone();
    const [to, listener] = this.#anyone();
    const places = this.#truth
      .of(from)
      .deliveries.flatMap(({ saying }, place) => (saying === null ? [] : [place]));
    if (from === to || places.length === 0) return;
    const place = this.#random.pick(places);
    const before = this.#truth.of(from).deliveries[place];
    if (before === undefined || before.saying === null) return;
    const received = receivedBy(from, await this.#prepared.events());
    const words = new LoggedString(this.#framed(from, before.text), received[place]?.id ?? '');
    await this.#deliver(speaker, listener, words, before.saying, before);
  }

  async #deliver(
    speaker: Agent,
    listener: Agent,
    words: string | LoggedString,
    saying: TrueSaying,
    before?: TrueArrival,
  ): Promise<void> {
    const { status, text } = await speaker.inform(listener, words);
    const to = listener.agentId;
    if (text === null) return this.#truth.withhold(to, saying);
    this.#arrived(to);
    this.#truth.message(to, text, saying, {
      isAltered: status === 'altered',
      ...(before === undefined ? {} : { before }),
    });
  }

  async #ask(): Promise<void> {
    const [agentId, agent] = this.#anyone();
    if (this.#busy.has(agentId)) return;
    this.#busy.add(agentId);
    await this.#untilRest(() => {
      agent.response().then((said) => {
        this.#utteredBy(agentId, `${said}`, said.messageId);
        this.#onRest();
      });
    });
  }

  async #answer(isLast = false): Promise<void> {
    const calls = [...this.#open.values()];
    if (calls.length === 0) return;
    const { gated, truth } = this.#random.pick(calls);
    const { agentId } = gated;
    const toolCalls = !isLast && this.#random.chance(0.4) ? this.#someCalls() : [];
    const text = toolCalls.length > 0 && this.#random.chance(0.5) ? '' : this.#random.words();
    const replay = this.#random.chance(0.3) ? this.#random.words() : undefined;
    const thoughts = replay === undefined ? {} : { thinking: { text: 'Hm.' }, replay };
    this.#open.delete(agentId);
    this.#truth.answer(truth, withReplay(text, replay), toolCalls.length);
    if (toolCalls.length === 0) this.#truth.say(agentId, text);
    await this.#untilRest(() => gated.answer({ text, toolCalls, ...thoughts }));
  }

  /** A message arrives while its agent answers. */
  async #race(): Promise<void> {
    while (this.#open.size === 0) await this.#ask();
    const [agentId = ''] = [...this.#open.keys()];
    await this.#harken(agentId);
  }

  async #drain(): Promise<void> {
    while (this.#open.size > 0) await this.#answer(true);
  }

  #called(gated: GatedCall): void {
    const { agentId, messages } = gated;
    const truth = this.#truth.call(agentId, this.#askedBy.get(agentId) ?? null);
    this.#askedBy.delete(agentId);
    this.#open.set(agentId, { gated, truth });
    this.#prompts.push({ agentId, messages, expected: truth.prompt.lines });
    this.#onRest();
  }

  #utteredBy(agentId: string, text: string, messageId: string): Utterance {
    this.#busy.delete(agentId);
    const saying = this.#truth.sayings.findLast(({ speaker }) => speaker === agentId);
    if (saying?.text !== text) throw new Error(`Seed ${this.#seed}: ${agentId} said something else.`);
    const utterance = { messageId, saying };
    this.#utterances.push(utterance);
    return utterance;
  }

  /** Resolves when the running agent waits for a model again, or has answered. */
  #untilRest(start: () => void): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#onRest = resolve;
    start();
    return promise;
  }

  #someCalls(): ModelToolCall[] {
    return Array.from({ length: this.#random.chance(0.3) ? 2 : 1 }, () => {
      this.#calls += 1;
      return { toolCallId: `c${this.#calls}`, tool: this.#random.pick(toolNames), input: {} };
    });
  }

  #framed(from: string, text: string): string {
    return this.#random.pick([text, `[${from}]: ${text}`, `[${from}]: ${text}`, this.#random.words()]);
  }

  #anyone(to?: string): [string, Agent] {
    return this.#random.pick([...this.#agents].filter(([agentId]) => to === undefined || agentId === to));
  }

  #arrived(agentId: string): void {
    if (this.#open.has(agentId)) this.#races += 1;
  }

  #noteAwaited(): void {
    for (const [agentId, agent] of this.#agents)
      this.#awaited.push({
        agentId,
        says: agent.awaitsResponse,
        does: this.#truth.of(agentId).unanswered.size > 0,
      });
  }
}
