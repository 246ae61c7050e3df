import { createHash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { createCommunicationHub, openDispatchStore } from '@hansard/dispatch';
import { isEventOf } from '@hansard/events';
import type { DispatchStoreProvider, ModelMessage, ModelRequest, ToolCall } from '@hansard/provider';
import {
  type Agent,
  LoggedString,
  type OpenSessionOptions,
  type Session,
  sessionErrors,
} from '@hansard/session';
import { dispatchId, prepare, taskDir } from '../../prepare.ts';
import { done, hostOf, model, type Reply, says, tools } from '../../scripted.ts';
import { Random } from '../random.ts';
import { answerPending, randomAnswer, readingHooks } from './persons.ts';
import type {
  Called,
  ConcurrentlyPlayed,
  Entered,
  Forked,
  GivenAnswer,
  Happened,
  ReadTranscript,
  Sent,
} from './played.ts';
import { flags, judged } from './played.ts';

const systemPrompt = 'Be brief.';

/** How many threads of the program use the session, and how often each does something. */
const threads = 5;
const actions = 16;

/** Two agents have one name. */
const names = ['Ann', 'Ben', 'Ann'];

const never = new Promise<never>(() => {});
const at = { taskDir, dispatchId };

export interface PlayOptions {
  /** Answers calls in another process until the returned function has resolved. Absent: by letter, from another opening of the store. */
  readonly answerElsewhere?: (onAnswer: (answer: GivenAnswer) => void) => () => Promise<void>;
  /** Whether the process can be gone, as far as the store knows. */
  readonly canKill: boolean;
}

/** A process that has the session. */
class Life {
  isOver = false;
  readonly over: Promise<void>;
  end: () => void = () => {};

  constructor() {
    this.over = new Promise((resolve) => {
      this.end = () => {
        this.isOver = true;
        resolve();
      };
    });
  }
}

/** A session that several threads of a program use at the same time, while people answer, and others stop, close, kill, load and evict it. */
class ConcurrentPlay {
  readonly #random: Random;
  readonly #provider: DispatchStoreProvider;
  readonly #options: PlayOptions;
  readonly #hasBudget: boolean;
  readonly #sent: Sent[] = [];
  readonly #called: Called[] = [];
  readonly #read: ReadTranscript[] = [];
  readonly #given: GivenAnswer[] = [];
  readonly #entered: Entered[] = [];
  readonly #shown: string[] = [];
  readonly #wrong: string[] = [];
  readonly #utterances: { readonly agentId: string; readonly said: LoggedString }[] = [];
  /** By agent: when the responses that are under way were asked for, and by whom. */
  readonly #asked = new Map<string, Map<number, 'program' | 'tool'>>();
  /** By agent: when one of its tools was called last. */
  readonly #acted = new Map<string, number>();
  readonly #calling = new Set<string>();
  readonly #latest = new Map<string, Called>();
  /** What the log has for certain, by agent: calls of models; and all tokens. */
  readonly #durable = { calls: new Map<string, number>(), tokens: 0 };
  readonly #happened: Happened = {
    ...{ loads: 0, kills: 0, evictions: 0, closed: 0, duringCalls: 0, stops: 0, rewinds: 0 },
    ...{ letters: 0, denials: 0, rejections: 0, spent: 0, answers: 0, posted: 0 },
  };
  #agentIds: readonly string[] = [];
  #life = new Life();
  #session: Promise<Session>;
  #time = 0;
  #marks = 0;

  constructor(seed: number, provider: DispatchStoreProvider, options: PlayOptions) {
    this.#random = new Random(seed);
    this.#hasBudget = seed % 3 === 0;
    this.#provider = provider;
    this.#options = options;
    this.#session = this.#begin();
  }

  async play(): Promise<ConcurrentlyPlayed> {
    await this.#session;
    const stop = this.#options.answerElsewhere?.((answer) => this.#post(answer));
    let left = threads;
    const goesOn = () => left > 0;
    const all = Array.from({ length: threads }, async () => {
      await this.#thread();
      left -= 1;
    });
    const posting = stop === undefined ? this.#postman(goesOn) : null;
    await Promise.all([...all, this.#loader(goesOn), this.#person(goesOn), posting]);
    await stop?.();
    const awaiting = await this.#settle();
    const prepared = this.#prepared();
    const events = await prepared.events();
    const forked = await this.#fork(events.map(({ id }) => id));
    await prepared.store.close();
    return {
      ...{ agentIds: this.#agentIds, events, sent: this.#sent, called: this.#called, read: this.#read },
      ...{ given: this.#given, entered: this.#entered, forked, awaiting, wrong: this.#wrong },
      ...{ shown: this.#shown.join('\n'), happened: this.#happened },
    };
  }

  /** Answers what waits until no call is open, and notes who awaits a response then. */
  async #settle(): Promise<ReadonlyMap<string, boolean>> {
    const awaiting = new Map<string, boolean>();
    await (await this.#session).close();
    for (let load = 0; load < 50; load += 1) {
      const session = await this.#load();
      for (const { callId } of session.pending()) await this.#answer(session, callId);
      for (let turn = 0; turn < 20; turn += 1) await setImmediate();
      for (const agentId of this.#agentIds)
        awaiting.set(agentId, (await session.getAgent(agentId)).awaitsResponse);
      await session.close();
      if ((await this.#prepared().envelope())?.status !== 'running') return awaiting;
    }
    throw new Error('Calls wait although all were answered.');
  }

  /** What an agent of a fork is given, at the end of the log and at a random event. */
  async #fork(ids: readonly string[]): Promise<Forked[]> {
    const forked: Forked[] = [];
    const { session } = await this.#prepared().load(this.#sessionOptions());
    for (const id of [ids.at(-1) ?? '', this.#random.pick(ids)]) {
      const fork = await session
        .fork({ at: id })
        .catch((error) => this.#allowCode(error, 'SESSION_FORK_INVALID'));
      if (fork === undefined) continue;
      await fork.close();
      const agentId = this.#random.pick(fork.listAgents()).agentId;
      const prompt: string[] = [];
      const asked = await this.#prepared().open({
        dispatchId: fork.dispatchId,
        model: model(({ messages }) => {
          prompt.push(...linesOf(messages));
          return says('In the fork.');
        }),
      });
      const agent = await asked.getAgent(agentId);
      await agent.harken('And now?');
      await agent.response();
      await asked.close();
      forked.push({ at: id, agentId, prompt: prompt.slice(0, -1) });
    }
    await session.close();
    return forked;
  }

  async #begin(): Promise<Session> {
    const { root, session } = await this.#prepared().create({ ...this.#sessionOptions(), systemPrompt });
    const others: string[] = [];
    for (const name of names) others.push((await session.createAgent({ name, systemPrompt })).agentId);
    this.#agentIds = [root.agentId, ...others];
    return session;
  }

  async #load(): Promise<Session> {
    return (await this.#prepared().load(this.#sessionOptions())).session;
  }

  #prepared() {
    return prepare(this.#delayed(this.#life));
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
      if (this.#options.canKill && this.#random.chance(0.4)) this.#kill();
      else await session.close();
      this.#session = this.#load();
      this.#happened.loads += 1;
      // Threads that wait for the session use its agents at once, before anything else reads their logs.
      await this.#session;
    }
  }

  /** The process is gone: nothing of it happens any more. */
  #kill(): void {
    this.#happened.kills += 1;
    this.#life.end();
    this.#life = new Life();
    this.#asked.clear();
    this.#calling.clear();
  }

  /** A person at the program answers what waits. */
  async #person(goesOn: () => boolean): Promise<void> {
    while (goesOn()) {
      await this.#pause(60);
      const session = await this.#session;
      const [first] = session.pending();
      if (first !== undefined && this.#random.chance(0.5)) await this.#answer(session, first.callId);
      else await setImmediate();
    }
  }

  async #answer(session: Session, callId: string): Promise<void> {
    const answer = randomAnswer(this.#random, callId, `here ${this.#now()}`);
    this.#given.push(answer);
    await this.#inLife(async () => {
      await session.answer(callId, answer);
      this.#happened.answers += 1;
    }).catch((error) => this.#allowCode(error, 'SESSION_ANSWER_REFUSED', 'SESSION_CLOSED'));
  }

  #post(answer: GivenAnswer): void {
    this.#given.push(answer);
    this.#happened.posted += 1;
  }

  /** Answers by letter. */
  async #postman(goesOn: () => boolean): Promise<void> {
    const store = openDispatchStore(this.#provider);
    const answering = { answered: new Set<string>(), random: this.#random, by: 'post' };
    while (goesOn()) {
      await this.#pause(60);
      await answerPending(store, at, answering, (answer) => this.#post(answer));
      await setImmediate();
    }
  }

  async #thread(): Promise<void> {
    for (let action = 0; action < actions; action += 1) {
      const session = await this.#session;
      try {
        await this.#inLife(() => this.#act(session, this.#random.next()));
      } catch (error) {
        this.#allow(error);
      }
      await this.#pause(4);
    }
  }

  /** Resolves when the task has ended, or the process is gone. */
  async #inLife(task: () => Promise<unknown>): Promise<void> {
    await Promise.race([task(), this.#life.over]);
  }

  async #act(session: Session, next: number): Promise<void> {
    const { loads, kills } = this.#happened;
    const agent = await this.#agentOf(session);
    // An agent of a session that is closed knows nothing of the next session.
    if (loads !== this.#happened.loads || kills !== this.#happened.kills) return;
    if (next < 0.25) await this.#harken(agent);
    else if (next < 0.3) await this.#write(agent.agentId);
    else if (next < 0.42) await this.#inform(agent, await this.#agentOf(session));
    else if (next < 0.52) await this.#readTranscript(agent);
    else if (next < 0.57) await this.#rewind(agent);
    else if (next < 0.63) this.#happened.stops += Number(agent.stop('enough', 'user'));
    else if (next < 0.7) await this.#respondBriefly(agent);
    else if (next < 0.85) await this.#respond(agent.agentId, 'program', () => agent.response());
    else
      await Promise.allSettled([
        this.#respond(agent.agentId, 'program', () => agent.response()).catch((error) => this.#allow(error)),
        this.#harken(agent).catch((error) => this.#allow(error)),
      ]).then(assertFulfilled);
  }

  async #harken(agent: Agent): Promise<void> {
    const text = this.#words(0.2, ['deny', 'alter']);
    const base64 = Buffer.from(this.#random.words()).toString('base64');
    const parts = this.#random.chance(0.15)
      ? [{ kind: 'image', mediaType: 'image/png', base64 } as const]
      : [];
    const send = () => agent.harken(text, { parts });
    if (!text.includes('(deny ')) return this.#send(agent.agentId, judged(text), null, send);
    await send().then(
      () => this.#wrong.push(`${text} was not denied`),
      (error) => {
        if (sessionErrors.is(error, 'SESSION_INPUT_DENIED')) this.#happened.denials += 1;
        else throw error;
      },
    );
  }

  /** A message of another process. */
  async #write(agentId: string): Promise<void> {
    const text = this.#words(0.1, ['alter']);
    this.#sent.push({
      agentId,
      text: judged(text),
      utterance: null,
      startedAt: this.#now(),
      recordedAt: null,
    });
    this.#happened.letters += 1;
    // A session that is closed takes no messages.
    await openDispatchStore(this.#provider)
      .sendLetter(at, { text, agentId })
      .catch(({ code }) => (code === 'DISPATCH_LETTER_REFUSED' ? null : Promise.reject(code)));
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

  /** Goes back to a message, an answer without calls, or the last result of an answer. */
  async #rewind(agent: Agent): Promise<void> {
    const entries = await agent.entries();
    const places = entries.filter(
      ({ message: { role, toolCalls = [] } }, index) =>
        (role === 'user' && entries[index - 1]?.message.role !== 'assistant') ||
        (role === 'tool' && entries[index + 1]?.message.role !== 'tool') ||
        (role === 'assistant' && toolCalls.length === 0 && entries[index + 1]?.message.role !== 'user'),
    );
    if (places.length === 0) return;
    await agent.rewind({ keptThrough: this.#random.pick(places).messageId });
    this.#happened.rewinds += 1;
  }

  async #respondBriefly(agent: Agent): Promise<void> {
    const stopping = new AbortController();
    const { signal } = stopping;
    const answered = this.#respond(agent.agentId, 'program', () => agent.response({ signal }));
    answered.catch(() => {});
    await this.#pause(60);
    stopping.abort(new Error('too long'));
    await answered;
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

  async #respond(
    agentId: string,
    by: 'program' | 'tool',
    respond: () => Promise<LoggedString>,
  ): Promise<LoggedString> {
    const asked = this.#asked.get(agentId) ?? new Map<number, 'program' | 'tool'>();
    const time = this.#now();
    this.#asked.set(agentId, asked.set(time, by));
    try {
      const said = await respond();
      const call = this.#called.find(({ number }) => said.text.endsWith(` n${number}`));
      if (call?.isJudged !== (by === 'program')) this.#wrong.push(`a ${by} asked for ${said.text}`);
      this.#utterances.push({ agentId, said });
      return said;
    } finally {
      asked.delete(time);
    }
  }

  #sessionOptions(): Partial<OpenSessionOptions> {
    const life = this.#life;
    const alive = <T>(task: () => T): T | Promise<never> => (life.isOver ? never : task());
    const show = (notice: unknown) => void this.#shown.push(JSON.stringify(notice));
    const calls = 5 + 5 * this.#happened.loads;
    const budgets = { eachAgent: { calls }, session: { tokens: 40 * calls } };
    return {
      model: model((request) => alive(() => this.#generate(request, life, budgets))),
      tools: [
        tools({
          tell: (call) => alive(() => this.#tell(call)),
          ask: (call) => alive(() => this.#ask(call)),
          sign: (call) => alive(() => this.#sign(call)),
          consult: (call) => alive(() => this.#sign(call)),
        }),
      ].map((provider) => ({
        ...provider,
        listTools: async () =>
          (await provider.listTools()).map((tool) => {
            if (tool.name !== 'sign' && tool.name !== 'consult') return tool;
            return { ...tool, waitsFor: tool.name === 'sign' ? ('approval' as const) : ('answer' as const) };
          }),
      })),
      hooks: readingHooks(
        () => this.#pause(20),
        (agentId) => {
          const call = this.#latest.get(agentId);
          if (call !== undefined) call.isJudged = true;
        },
      ),
      communication: createCommunicationHub([{ contract: 1, eventRecorded: show, deltaReceived: show }]),
      parallelToolCalls: 2,
      maxToolRounds: 3,
      utteranceTries: 2,
      ...(this.#hasBudget ? { budgets } : {}),
    };
  }

  async #generate(
    { agentId, messages, onDelta }: ModelRequest,
    life: Life,
    {
      eachAgent,
      session,
    }: { readonly eachAgent: { readonly calls: number }; readonly session: { readonly tokens: number } },
  ): Promise<Reply> {
    const number = this.#called.length + 1;
    const askedAt = Math.max(
      Math.min(...(this.#asked.get(agentId)?.keys() ?? [])),
      this.#acted.get(agentId) ?? 0,
    );
    const call: Called = {
      ...{ agentId, number, askedAt, calledAt: this.#now(), prompt: linesOf(messages) },
      ...{ said: '', reply: null, hasCalls: false, isJudged: false },
    };
    this.#called.push(call);
    this.#latest.set(agentId, call);
    if (this.#hasBudget && (this.#durable.calls.get(agentId) ?? 0) >= eachAgent.calls)
      this.#wrong.push(`call ${number} of ${agentId} exceeds the budget`);
    if (this.#hasBudget && this.#durable.tokens >= session.tokens)
      this.#wrong.push(`call ${number} exceeds the tokens`);
    this.#calling.add(agentId);
    if (this.#random.chance(0.4)) {
      call.said = `Hm n${number}`;
      onDelta?.({ type: 'delta:text', text: call.said });
    }
    await this.#pause(40);
    if (life.isOver) return never;
    this.#calling.delete(agentId);
    const usage = { inputTokens: number, outputTokens: 1 };
    const isCall = this.#random.chance(0.35);
    call.hasCalls = isCall;
    call.reply = `${this.#words(0.3, flags)} n${number}`;
    if (!isCall) return says(call.reply, { usage });
    const toolCalls = Array.from({ length: this.#random.pick([1, 2]) }, (_, index) => ({
      toolCallId: `c${number}_${index}`,
      tool: this.#random.pick(['tell', 'ask', 'sign', 'consult']),
      input: { of: number },
    }));
    return { text: call.reply, toolCalls, usage };
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
    const to = this.#otherThan(call.agentId);
    const { text } = await this.#respond(to, 'tool', () => hostOf(call).respond(to));
    return done(text);
  }

  async #sign(call: ToolCall) {
    this.#begun(call);
    this.#entered.push({ toolCallId: call.toolCallId, input: call.input });
    await this.#pause(6);
    return done(`signed ${JSON.stringify(call.input)}`);
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

  /** Words that repeat, and now and then a flag for the hooks with a mark of its own. */
  #words(share: number, among: readonly string[]): string {
    const words = this.#random.words();
    if (!this.#random.chance(share)) return words;
    this.#marks += 1;
    return `${words} (${this.#random.pick(among)} s${this.#marks})`;
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

  /** A store whose reads and appends take some turns before and after they are made, and that a process cannot use after its end. */
  #delayed(life: Life): DispatchStoreProvider {
    return new Proxy(this.#provider, {
      get: (target, key) => {
        const value: unknown = Reflect.get(target, key);
        if (typeof value !== 'function') return value;
        const call = value.bind(target) as (...given: unknown[]) => unknown;
        if (!/^(?:append|read)/.test(String(key)))
          return (...given: unknown[]) => (life.isOver ? never : call(...given));
        return async (...given: unknown[]) => {
          await this.#pause(6);
          if (life.isOver) return never;
          const answer = await call(...given);
          if (String(key).startsWith('append')) this.#count([given[2]].flat());
          await this.#pause(6);
          return life.isOver ? never : answer;
        };
      },
    });
  }

  #count(events: readonly unknown[]): void {
    for (const event of events) {
      if (!isEventOf(event as never, 'agent:inference')) continue;
      const { agentId = '', data } = event as { agentId?: string; data: { usage: { inputTokens: number } } };
      this.#durable.calls.set(agentId, (this.#durable.calls.get(agentId) ?? 0) + 1);
      this.#durable.tokens += data.usage.inputTokens + 1;
    }
  }

  #allow(error: unknown): void {
    if (sessionErrors.is(error, 'SESSION_CLOSED')) this.#happened.closed += 1;
    else if (sessionErrors.is(error, 'SESSION_UTTERANCE_DENIED')) this.#happened.rejections += 1;
    else if (sessionErrors.is(error, 'SESSION_BUDGET_SPENT')) {
      this.#happened.spent += 1;
      const { scope, what, limit } = error.details as { scope: string; what: string; limit: number };
      const used =
        what === 'calls'
          ? this.#called.length
          : this.#called.reduce((sum, { number }) => sum + number + 1, 0);
      if (used < limit) this.#wrong.push(`the ${what} of the ${scope} are spent after ${used} of ${limit}`);
    } else this.#allowCode(error, 'SESSION_AGENT_BUSY', 'SESSION_TURN_LIMIT', 'SESSION_AGENT_STOPPED');
  }

  #allowCode(error: unknown, ...codes: readonly Parameters<typeof sessionErrors.is>[1][]): undefined {
    if (!codes.some((code) => sessionErrors.is(error, code))) throw error;
  }
}

export function playConcurrently(
  seed: number,
  provider: DispatchStoreProvider,
  options: PlayOptions,
): Promise<ConcurrentlyPlayed> {
  return new ConcurrentPlay(seed, provider, options).play();
}

function linesOf(messages: readonly ModelMessage[]): string[] {
  return messages.map((message) => {
    const files = 'files' in message ? (message.files ?? []) : [];
    const digests = files.map(
      ({ base64 }) => ` +${createHash('sha256').update(Buffer.from(base64, 'base64')).digest('hex')}`,
    );
    return `${message.role}: ${message.text}${digests.join('')}`;
  });
}

function assertFulfilled(settled: readonly PromiseSettledResult<unknown>[]): void {
  for (const one of settled) if (one.status === 'rejected') throw one.reason;
}
