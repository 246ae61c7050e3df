import { closeAbandonedDispatches } from '@hansard/dispatch';
import type { CapturedEvent } from '@hansard/events';
import { interruption } from '@hansard/prompt';
import type { DispatchStoreProvider, ModelToolCall, ToolCall } from '@hansard/provider';
import type { Agent, Session } from '@hansard/session';
import { createMemoryStore } from '@hansard/store-memory';
import { prepare, taskDir } from '../prepare.ts';
import { hostOf } from '../scripted.ts';
import { BesideCalls } from './beside-calls.ts';
import { type GatedCall, GatedModel } from './gated-model.ts';
import { type AwaitedResponse, type GivenPrompt, type PlayedSession, withReplay } from './played-session.ts';
import { Random } from './random.ts';
import { randomHook, witness } from './random-hook.ts';
import { RandomTalk } from './random-talk.ts';
import {
  randomTools,
  type SpokenUtterance,
  type ToolSetting,
  toolNames,
  type Utterance,
} from './random-tools.ts';
import { Rest } from './rest.ts';
import { type TrueCall, TruthRecord } from './truth-record.ts';
import { WatchedStore } from './watched-store.ts';

interface OpenCall {
  readonly gated: GatedCall;
  readonly truth: TrueCall;
  readonly given: GivenPrompt;
}

/** Of the prompts of every fourth session. */
const mostMessages = 6;

/** How many tool calls of a message run at the same time in every other session. */
const mostAtOnce = 3;

/** A session in which something happens at random. At any time at most one of its agents and tools runs; all others wait for their models and turns. */
export class RandomPlay {
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
  readonly #rest = new Rest();
  readonly #store: WatchedStore;
  /** By agent: what its model has answered, until that is in the log. */
  readonly #answered = new Map<string, { readonly calls: readonly string[]; readonly log: () => void }>();
  readonly #beside: BesideCalls;
  readonly #talk: RandomTalk;
  readonly #seed: number;
  #session: Session | null = null;
  #races = 0;
  #crashes = 0;
  #discussions = 0;
  #calls = 0;
  #ids = 0;

  constructor(seed: number, provider: DispatchStoreProvider = createMemoryStore()) {
    this.#seed = seed;
    this.#store = new WatchedStore(
      provider,
      (events) => {
        for (const event of events) this.#recorded(event);
      },
      () => this.#rest.stop(),
    );
    this.#prepared = prepare(this.#store.provider);
    this.#random = new Random(seed);
    this.#truth = new TruthRecord(this.#isFaded ? mostMessages : Number.POSITIVE_INFINITY);
    this.#talk = new RandomTalk({
      random: this.#random,
      truth: this.#truth,
      agents: this.#agents,
      utterances: this.#utterances,
      events: () => this.#prepared.events(),
      onArrival: (agentId) => {
        if (this.#open.has(agentId)) this.#races += 1;
      },
    });
    this.#beside = new BesideCalls(this.#rest, this.#truth, this.#atOnce);
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

  /** Something happens: a message, a question, an answer of a model, a turn of a tool, or the end of the process. */
  async step(): Promise<void> {
    try {
      await this.#happen(this.#random.next());
    } catch (error) {
      if (!this.#store.isDown) throw error;
    }
    if (this.#store.isDown) await this.#resume();
    this.#noteAwaited();
  }

  async #happen(next: number): Promise<void> {
    if (this.#beside.haveTurns && next < 0.4) await this.#beside.giveTurn(this.#random);
    else if (next < 0.18) await this.#talk.harken();
    else if (next < 0.22) await this.#talk.observe();
    else if (next < 0.26) await this.#talk.compact();
    else if (next < 0.45) await this.#talk.inform();
    else if (next < 0.55) await this.#talk.relay();
    else if (next < 0.75) await this.#ask();
    else if (next < 0.97) await this.#answer();
    else await this.#session?.evictAgent(this.#random.pick([...this.#agents.keys()]));
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

  /** The process ends at one of the next events that it records. */
  crashSoon(): void {
    this.#store.crashAfter(Math.floor(this.#random.next() * 8));
  }

  /** Another process finds the dispatch abandoned, ends it, and resumes the session. */
  async #resume(): Promise<void> {
    this.#crashes += 1;
    await this.#session?.close().catch(() => {});
    this.#open.clear();
    this.#busy.clear();
    this.#askedBy.clear();
    this.#answered.clear();
    this.#beside.stop();
    this.#truth.crash(interruption);
    this.#store.restart();
    const [closed] = await closeAbandonedDispatches(this.#prepared.store, taskDir);
    if (closed?.status !== 'crashed') throw new Error(`Seed ${this.#seed}: nothing was abandoned.`);
    const { session } = await this.#prepared.load(this.#options);
    await this.#take(session);
  }

  async end(): Promise<PlayedSession> {
    while (this.#store.isArmed) await this.step();
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
      crashes: this.#crashes,
      besides: this.#discussions + this.#beside.count,
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
      respond: (call, agentIds) => this.#respond(call, agentIds),
      turn: (call) => this.#beside.turnOf(call),
    };
    const hooks = { random, truth, onFinished: (toolCallId: string) => this.#beside.finished(toolCallId) };
    return {
      createId: () => {
        this.#ids += 1;
        return `e${this.#ids}`;
      },
      model: new GatedModel((gated) => this.#called(gated)),
      tools: [randomTools(setting)],
      ...(this.#isFaded ? { context: { name: 'lastMessages', count: mostMessages } as const } : {}),
      hooks: [randomHook('censor', hooks), randomHook('editor', hooks), witness(hooks)],
      parallelToolCalls: this.#atOnce,
    };
  }

  get #atOnce(): number {
    return this.#seed % 2 === 0 ? 1 : mostAtOnce;
  }

  async #respond(call: ToolCall, agentIds: readonly string[]): Promise<readonly SpokenUtterance[]> {
    let silent = agentIds.length;
    this.#rest.begin(silent - 1);
    if (silent > 1) this.#discussions += 1;
    return Promise.all(
      agentIds.map(async (agentId) => {
        this.#busy.add(agentId);
        this.#askedBy.set(agentId, call.toolCallId);
        const { text, messageId } = await hostOf(call).respond(agentId);
        silent -= 1;
        if (silent > 0) this.#rest.end();
        return { text, ...this.#utteredBy(agentId, text, messageId) };
      }),
    );
  }

  async #take(session: Session): Promise<void> {
    this.#session = session;
    for (const { agentId } of session.listAgents())
      this.#agents.set(agentId, await session.getAgent(agentId));
  }

  async #ask(): Promise<void> {
    const [agentId, agent] = this.#talk.anyone();
    if (this.#busy.has(agentId)) return;
    this.#busy.add(agentId);
    await this.#rest.until(() => {
      agent.response().then(
        (said) => {
          this.#utteredBy(agentId, `${said}`, said.messageId);
          this.#rest.end();
        },
        (error) => {
          if (!this.#store.isDown) throw error;
        },
      );
    });
  }

  async #answer(isLast = false): Promise<void> {
    const calls = [...this.#open.values()];
    if (calls.length === 0) return;
    const { gated, truth, given } = this.#random.pick(calls);
    const { agentId } = gated;
    const toolCalls = !isLast && this.#random.chance(0.4) ? this.#someCalls() : [];
    const text = toolCalls.length > 0 && this.#random.chance(0.5) ? '' : this.#random.words();
    const replay = this.#random.chance(0.3) ? this.#random.words() : undefined;
    const thoughts = replay === undefined ? {} : { thinking: { text: 'Hm.' }, replay };
    this.#open.delete(agentId);
    const ids = toolCalls.map(({ toolCallId }) => toolCallId);
    const log = () => {
      given.isAnswered = true;
      this.#truth.answer(truth, withReplay(text, replay), ids);
      if (toolCalls.length === 0) this.#truth.say(agentId, text);
    };
    this.#answered.set(agentId, { calls: ids, log });
    await this.#rest.until(() => gated.answer({ text, toolCalls, ...thoughts }));
  }

  /** The log has an event: from now on, what it says has happened. */
  #recorded({ type, agentId = '', data }: CapturedEvent): void {
    const toolCallId = String(data.toolCallId);
    if (type === 'agent:inference') this.#recordedAnswer(agentId);
    else if (type === 'agent:tool_result') this.#beside.recorded(toolCallId);
    else if (type === 'harness:hook_decision' && data.on === 'tool_call')
      if (!this.#truth.stateOf(toolCallId).isFinished) this.#truth.loggedDecisions(toolCallId);
  }

  #recordedAnswer(agentId: string): void {
    const { calls = [], log } = this.#answered.get(agentId) ?? {};
    this.#answered.delete(agentId);
    log?.();
    this.#beside.begin(calls);
  }

  /** A message arrives while its agent answers. */
  async #race(): Promise<void> {
    while (this.#open.size === 0)
      if (this.#beside.haveTurns) await this.#beside.giveTurn(this.#random);
      else await this.#ask();
    const [agentId = ''] = [...this.#open.keys()];
    await this.#talk.harken(agentId);
  }

  async #drain(): Promise<void> {
    while (this.#open.size > 0 || this.#beside.haveTurns)
      if (this.#beside.haveTurns) await this.#beside.giveTurn(this.#random);
      else await this.#answer(true);
  }

  #called(gated: GatedCall): void {
    const { agentId, messages } = gated;
    const truth = this.#truth.call(agentId, this.#askedBy.get(agentId) ?? null);
    this.#askedBy.delete(agentId);
    const given = { agentId, messages, expected: truth.prompt.lines, isAnswered: false };
    this.#open.set(agentId, { gated, truth, given });
    this.#prompts.push(given);
    this.#rest.end();
  }

  #utteredBy(agentId: string, text: string, messageId: string): Utterance {
    this.#busy.delete(agentId);
    const saying = this.#truth.sayings.findLast(({ speaker }) => speaker === agentId);
    if (saying?.text !== text) throw new Error(`Seed ${this.#seed}: ${agentId} said something else.`);
    const utterance = { messageId, saying };
    this.#utterances.push(utterance);
    return utterance;
  }

  #someCalls(): ModelToolCall[] {
    return Array.from({ length: this.#random.pick([1, 1, 1, 2, 3]) }, () => {
      this.#calls += 1;
      return { toolCallId: `c${this.#calls}`, tool: this.#random.pick(toolNames), input: {} };
    });
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
