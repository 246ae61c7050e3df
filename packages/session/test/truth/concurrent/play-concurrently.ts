import { setImmediate } from 'node:timers/promises';
import type { DispatchStoreProvider, ModelRequest, ToolCall } from '@hansard/provider';
import { type Agent, LoggedString, type Session, sessionErrors } from '@hansard/session';
import { prepare } from '../../prepare.ts';
import { done, hostOf, model, type Reply, says, tools } from '../../scripted.ts';
import { Random } from '../random.ts';
import type { Called, ConcurrentlyPlayed, ReadTranscript, Sent } from './played.ts';

const systemPrompt = 'Be brief.';

/** How many threads of the program use the session, and how often each does something. */
const threads = 5;
const actions = 16;

/** Two agents have one name. */
const names = ['Ann', 'Ben', 'Ann'];

/** A session that several threads of a program use at the same time, while another closes, loads and evicts it. */
class ConcurrentPlay {
  readonly #random: Random;
  readonly #prepared: ReturnType<typeof prepare>;
  readonly #sent: Sent[] = [];
  readonly #called: Called[] = [];
  readonly #read: ReadTranscript[] = [];
  readonly #utterances: { readonly agentId: string; readonly said: LoggedString }[] = [];
  /** By agent: when the responses that are under way were asked for. */
  readonly #asked = new Map<string, Set<number>>();
  /** By agent: when one of its tools was called last. */
  readonly #acted = new Map<string, number>();
  readonly #calling = new Set<string>();
  readonly #happened: ConcurrentlyPlayed['happened'] = { loads: 0, evictions: 0, closed: 0, duringCalls: 0 };
  #agentIds: readonly string[] = [];
  #session: Promise<Session>;
  #time = 0;
  #calls = 0;

  constructor(seed: number, provider: DispatchStoreProvider) {
    this.#random = new Random(seed);
    this.#prepared = prepare(this.#delayed(provider));
    this.#session = this.#begin();
  }

  async play(): Promise<ConcurrentlyPlayed> {
    await this.#session;
    let left = threads;
    const all = Array.from({ length: threads }, async () => {
      await this.#thread();
      left -= 1;
    });
    await Promise.all([...all, this.#loader(() => left > 0)]);
    await (await this.#session).close();
    const last = await this.#prepared.load(this.#options);
    const awaiting = new Map<string, boolean>();
    for (const agentId of this.#agentIds)
      awaiting.set(agentId, (await last.session.getAgent(agentId)).awaitsResponse);
    await last.session.close();
    const events = await this.#prepared.events();
    await this.#prepared.store.close();
    return {
      agentIds: this.#agentIds,
      events,
      sent: this.#sent,
      called: this.#called,
      read: this.#read,
      awaiting,
      happened: this.#happened,
    };
  }

  async #begin(): Promise<Session> {
    const { root, session } = await this.#prepared.create({ ...this.#options, systemPrompt });
    const others: string[] = [];
    for (const name of names) others.push((await session.createAgent({ name, systemPrompt })).agentId);
    this.#agentIds = [root.agentId, ...others];
    return session;
  }

  async #loader(goesOn: () => boolean): Promise<void> {
    while (goesOn()) {
      for (let pause = 0; pause < 4; pause += 1) await this.#pause(30);
      const session = await this.#session;
      if (this.#random.chance(0.8)) {
        await session.evictAgent(this.#random.pick(this.#agentIds));
        this.#happened.evictions += 1;
        continue;
      }
      await session.close();
      this.#session = this.#prepared.load(this.#options).then((loaded) => loaded.session);
      this.#happened.loads += 1;
      // Threads that wait for the session use its agents at once, before anything else reads their logs.
      await this.#session;
    }
  }

  async #thread(): Promise<void> {
    for (let action = 0; action < actions; action += 1) {
      const session = await this.#session;
      try {
        await this.#act(session, this.#random.next());
      } catch (error) {
        this.#allow(error);
      }
      await this.#pause(4);
    }
  }

  async #act(session: Session, next: number): Promise<void> {
    const { loads } = this.#happened;
    const agent = await this.#agentOf(session);
    // An agent of a session that is closed knows nothing of the next session.
    if (loads !== this.#happened.loads) return;
    if (next < 0.35) await this.#harken(agent);
    else if (next < 0.5) await this.#inform(agent, await this.#agentOf(session));
    else if (next < 0.62) await this.#readTranscript(agent);
    else if (next < 0.8) await this.#respond(agent.agentId, () => agent.response());
    else
      await Promise.allSettled([
        this.#respond(agent.agentId, () => agent.response()).catch((error) => this.#allow(error)),
        this.#harken(agent).catch((error) => this.#allow(error)),
      ]).then(assertFulfilled);
  }

  #harken(agent: Agent): Promise<void> {
    const text = this.#random.words();
    return this.#send(agent.agentId, text, null, () => agent.harken(text));
  }

  async #inform(speaker: Agent, listener: Agent): Promise<void> {
    const from = speaker.agentId;
    const own = this.#utterances.filter(({ agentId }) => agentId === from);
    if (from === listener.agentId) return;
    const said = own.length > 0 && this.#random.chance(0.6) ? this.#random.pick(own).said : null;
    const text = said === null ? this.#random.words() : `${said}`;
    const words = said === null ? text : new LoggedString(text, said.messageId);
    await this.#send(listener.agentId, text, said?.messageId ?? null, () => speaker.inform(listener, words));
  }

  async #readTranscript(agent: Agent): Promise<void> {
    const startedAt = this.#now();
    const transcript = await agent.transcript();
    const lines = transcript.map(({ role, content }) => `${role}: ${content}`);
    this.#read.push({ agentId: agent.agentId, startedAt, endedAt: this.#now(), lines });
  }

  async #send(
    agentId: string,
    text: string,
    utterance: string | null,
    send: () => Promise<unknown>,
  ): Promise<void> {
    const sent: Sent = { agentId, text, utterance, startedAt: this.#now(), recordedAt: null };
    this.#sent.push(sent);
    if (this.#calling.has(agentId)) this.#happened.duringCalls += 1;
    await send();
    sent.recordedAt = this.#now();
  }

  async #respond(agentId: string, respond: () => Promise<LoggedString>): Promise<LoggedString> {
    const asked = this.#asked.get(agentId) ?? new Set();
    const at = this.#now();
    this.#asked.set(agentId, asked.add(at));
    try {
      const said = await respond();
      this.#utterances.push({ agentId, said });
      return said;
    } finally {
      asked.delete(at);
    }
  }

  get #options() {
    return {
      model: model((request) => this.#generate(request)),
      tools: [tools({ tell: (call) => this.#tell(call), ask: (call) => this.#ask(call) })],
      parallelToolCalls: 2,
      maxToolRounds: 3,
    };
  }

  async #generate({ agentId, messages }: ModelRequest): Promise<Reply> {
    this.#calls += 1;
    const number = this.#calls;
    const askedAt = Math.max(Math.min(...(this.#asked.get(agentId) ?? [])), this.#acted.get(agentId) ?? 0);
    const prompt = messages.map(({ role, text }) => `${role}: ${text}`);
    this.#called.push({ agentId, number, askedAt, calledAt: this.#now(), prompt });
    this.#calling.add(agentId);
    await this.#pause(40);
    this.#calling.delete(agentId);
    const usage = { inputTokens: number, outputTokens: 1 };
    const text = this.#random.words();
    if (this.#random.chance(0.65)) return says(text, { usage });
    const toolCalls = Array.from({ length: this.#random.pick([1, 2]) }, (_, at) => ({
      toolCallId: `c${number}_${at}`,
      tool: this.#random.pick(['tell', 'ask']),
      input: {},
    }));
    return { text, toolCalls, usage };
  }

  async #tell(call: ToolCall) {
    this.#begun(call);
    await this.#pause(6);
    const to = this.#otherThan(call.agentId);
    const text = this.#random.words();
    await this.#send(to, text, null, () => hostOf(call).deliver(to, { text }));
    return done(this.#random.words());
  }

  async #ask(call: ToolCall) {
    this.#begun(call);
    await this.#pause(6);
    const { text } = await this.#respond(this.#otherThan(call.agentId), (to = '') =>
      hostOf(call).respond(to),
    );
    return done(text);
  }

  #begun({ agentId = '' }: ToolCall): void {
    this.#acted.set(agentId, this.#now());
  }

  #otherThan(agentId: string | undefined): string {
    return this.#random.pick(this.#agentIds.filter((other) => other !== agentId));
  }

  /** The root without anything of it in memory, or another agent. */
  async #agentOf(session: Session): Promise<Agent> {
    const agentId = this.#random.pick(this.#agentIds);
    return agentId === session.root.agentId ? session.root : session.getAgent(agentId);
  }

  #now(): number {
    this.#time += 1;
    return this.#time;
  }

  /** Waits at most `most` turns of the microtask queue, and now and then one of the event loop. */
  async #pause(most: number): Promise<void> {
    const turns = Math.floor(this.#random.next() ** 2 * most);
    for (let turn = 0; turn < turns; turn += 1) await null;
    if (this.#random.chance(0.1)) await setImmediate();
  }

  /** A store whose reads and appends take some turns before and after they are made. */
  #delayed(provider: DispatchStoreProvider): DispatchStoreProvider {
    return new Proxy(provider, {
      get: (target, key) => {
        const value: unknown = Reflect.get(target, key);
        if (typeof value !== 'function') return value;
        const call = value.bind(target) as (...given: unknown[]) => unknown;
        if (!/^(?:append|read)/.test(String(key))) return call;
        return async (...given: unknown[]) => {
          await this.#pause(6);
          const answer = await call(...given);
          await this.#pause(6);
          return answer;
        };
      },
    });
  }

  #allow(error: unknown): void {
    if (sessionErrors.is(error, 'SESSION_CLOSED')) this.#happened.closed += 1;
    else if (!sessionErrors.is(error, 'SESSION_AGENT_BUSY') && !sessionErrors.is(error, 'SESSION_TURN_LIMIT'))
      throw error;
  }
}

export function playConcurrently(seed: number, provider: DispatchStoreProvider): Promise<ConcurrentlyPlayed> {
  return new ConcurrentPlay(seed, provider).play();
}

function assertFulfilled(settled: readonly PromiseSettledResult<unknown>[]): void {
  for (const one of settled) if (one.status === 'rejected') throw one.reason;
}
