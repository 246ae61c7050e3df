import { HookChains, HookObservers, type HookPart, HookTime, hookLinks } from '@hansard/dispatch';
import type { CapturedEvent, JsonObject } from '@hansard/events';
import type {
  AgentInfo,
  HookAgents,
  HookHost,
  HookProvider,
  HookQuestion,
  LoggedString,
  NewAgent,
} from '@hansard/provider';
import type { AgentRecord } from '../agents/agent-record.ts';
import { inWords } from '../agents/agent-record.ts';
import type { AgentRegistry } from '../agents/agent-registry.ts';
import { createAgent } from '../agents/create-agent.ts';
import { checkedText } from '../agents/given-transcript.ts';
import { logTranscriptEntry } from '../log/log-transcript-entry.ts';
import { sessionErrors } from '../session-errors.ts';
import { answer } from './answer.ts';
import { deliver } from './deliver.ts';
import { ObservationBacklog, type RecordedActs } from './observation-backlog.ts';
import type { TurnResources } from './turn-resources.ts';

export interface SessionHooksOptions {
  readonly hooks: readonly HookProvider[];
  readonly maxHookChain: number | undefined;
  /** Aborts when the session has ended, when a write fails, and when its owner aborts it. */
  readonly signal: AbortSignal;
  readonly dispatchId: string;
  /** The turn that an agent has in no hook. */
  readonly turn: () => TurnResources;
}

/** How the hooks of a session take part in it: they observe what was recorded, and act as themselves or with their own agents. */
export class SessionHooks {
  readonly #options: SessionHooksOptions;
  readonly #chains: HookChains;
  readonly #observers: HookObservers;
  /** The last question to each agent of a hook. It never rejects. */
  readonly #asked = new Map<string, Promise<unknown>>();
  readonly #observingTurns = new Map<HookProvider, TurnResources>();
  #backlog: ObservationBacklog | null = null;
  /** What hooks did before the load, and the events that they observe again. */
  #again: { readonly ids: ReadonlySet<string>; readonly acts: RecordedActs } | null = null;

  constructor(
    options: SessionHooksOptions,
    { clock, timeoutMs }: Pick<TurnResources['asking'], 'clock' | 'timeoutMs'>,
  ) {
    const { hooks, dispatchId, signal, maxHookChain } = options;
    this.#options = options;
    this.#chains = new HookChains(maxHookChain);
    this.#observers = new HookObservers({
      hooks,
      dispatchId,
      time: { clock, timeoutMs, signal },
      part: (hook, event) =>
        isOf(hook, event, this.#turn.registry)
          ? null
          : this.#part(this.#observing(hook), hook, [event.id], { acts: this.#actsOn(event) }),
      record: async (event) => this.#turn.log.append([event]),
    });
  }

  /** Follows an event that was in the log when the session was loaded. */
  restore(event: CapturedEvent): void {
    this.follow(event);
    if (!this.#options.hooks.some(({ observe }) => observe !== undefined)) return;
    this.#backlog ??= new ObservationBacklog();
    this.#backlog.observe(event);
  }

  /** Lets the hooks of a loaded session observe what they may not have observed. */
  resume(): void {
    if (this.#backlog === null) return;
    const { events } = this.#backlog;
    this.#again = { ids: new Set(events.map(({ id }) => id)), acts: this.#backlog.acts() };
    this.#backlog = null;
    this.#observers.add(events);
  }

  /** Follows an event when it is accepted. */
  follow(event: CapturedEvent): void {
    if (this.#options.hooks.length > 0) this.#chains.observe(event);
  }

  /** Lets the hooks observe recorded events. */
  show(events: readonly CapturedEvent[]): void {
    this.#observers.add(events);
  }

  settled(): Promise<void> | null {
    return this.#observers.settled();
  }

  drained(): Promise<void> {
    return this.#observers.drained();
  }

  /** The part of a hook in a question that a turn asks; null: it is about an agent of the hook. */
  part(hook: HookProvider, question: HookQuestion, causes: readonly string[]): HookPart | null {
    const { registry } = this.#turn;
    const agents = question.on === 'delivery' ? [question.from, question.to] : [question.agentId];
    if (agents.some((agentId) => isOwn(hook, agentId, registry))) return null;
    const isReview = question.on === 'utterance';
    return this.#part(this.#within(this.#turn, hook), hook, causes, { isReview });
  }

  #actsOn({ id }: CapturedEvent): RecordedActs | null {
    return this.#again?.ids.has(id) === true ? this.#again.acts : null;
  }

  get #turn(): TurnResources {
    return this.#options.turn();
  }

  /** The turn of agents that a hook lets answer while it observes. */
  #observing(hook: HookProvider): TurnResources {
    const known = this.#observingTurns.get(hook);
    if (known !== undefined) return known;
    const turn = this.#within({ ...this.#turn, signal: this.#options.signal }, hook);
    this.#observingTurns.set(hook, turn);
    return turn;
  }

  #within(turn: TurnResources, hook: HookProvider): TurnResources {
    return withinHook(turn, hook, (inner, asked, causes) =>
      this.#part(this.#within(inner, asked), asked, causes),
    );
  }

  /** `turn`: that of agents that the hook lets answer. */
  #part(
    turn: TurnResources,
    hook: HookProvider,
    causes: readonly string[],
    { acts = null, isReview = false }: Partial<Pick<HostOptions, 'acts' | 'isReview'>> = {},
  ): HookPart {
    const time = new HookTime(hook.name);
    return {
      host: new SessionHookHost({
        hook: hook.name,
        turn,
        causes,
        time,
        chains: this.#chains,
        asked: this.#asked,
        acts,
        isReview,
      }),
      end: () => time.end(),
    };
  }
}

/** The turn of agents that a hook lets answer: nobody waits for observers, and the hook itself is not asked. */
function withinHook(
  turn: TurnResources,
  hook: HookProvider,
  partIn: (turn: TurnResources, hook: HookProvider, causes: readonly string[]) => HookPart,
): TurnResources {
  const { asking, signal } = turn;
  const within: TurnResources = {
    ...turn,
    isChecked: false,
    settled: () => null,
    asking: {
      ...asking,
      signal,
      hooks: asking.hooks.filter((other) => other !== hook),
      part: (other, question, causes) =>
        asking.part(other, question, causes) === null ? null : partIn(within, other, causes),
    },
  };
  return within;
}

function isOwn({ name }: HookProvider, agentId: unknown, registry: AgentRegistry): boolean {
  return typeof agentId === 'string' && registry.has(agentId) && registry.get(agentId).hook === name;
}

/** Whether the hook or one of its agents did this, or received it. */
function isOf(hook: HookProvider, { agentId, data }: CapturedEvent, registry: AgentRegistry): boolean {
  const source = (data.source ?? {}) as JsonObject;
  return (
    data.hook === hook.name ||
    source.hook === hook.name ||
    isOwn(hook, agentId, registry) ||
    isOwn(hook, source.agentId, registry)
  );
}

interface HostOptions {
  readonly hook: string;
  readonly turn: TurnResources;
  /** What brings about what the hook does. */
  readonly causes: readonly string[];
  readonly time: HookTime;
  readonly chains: HookChains;
  readonly asked: Map<string, Promise<unknown>>;
  /** What the hook did when it observed the event before. Null: it observes it for the first time. */
  readonly acts: RecordedActs | null;
  /** Whether it decides about an answer that nobody may have received: what its agents hear and say about it is not shown. */
  readonly isReview: boolean;
}

/** What a hook may do in one question or observation. */
class SessionHookHost implements HookHost, HookAgents {
  readonly #options: HostOptions;

  constructor(options: HostOptions) {
    this.#options = options;
  }

  get agents(): HookAgents {
    return this;
  }

  listAgents(): readonly AgentInfo[] {
    return this.#options.turn.registry.list();
  }

  inform(agentId: string | null | undefined, text: string | LoggedString, from?: string): Promise<string> {
    const { hook, turn, causes, chains, time } = this.#options;
    return time.act(async () => {
      const to = this.#receiver(agentId);
      if (to.hook === hook) throw this.#wrongAgent(to, 'is an agent of the hook itself: use harken');
      const recorded = this.#recorded(to.agentId, text);
      if (recorded !== null) return recorded;
      chains.assertNext(hook, causes);
      if (from === undefined) return this.#say(to.agentId, text);
      const sender = this.#ownAgent(from).agentId;
      const links = hookLinks(text, causes);
      const { messageId, reason } = await deliver(turn, {
        from: sender,
        to: to.agentId,
        text: checkedText(text),
        ...links,
        hook,
      });
      if (messageId !== null) return messageId;
      throw sessionErrors.error(
        'SESSION_DELIVERY_DENIED',
        `The message of the hook ${hook} to ${inWords(to)} was denied: ${reason}`,
        { details: { hook, agentId: to.agentId } },
      );
    });
  }

  createAgent({
    name,
    systemPrompt,
    languageModel,
  }: NewAgent & { readonly name: string }): Promise<AgentInfo> {
    const { hook, turn, causes, time } = this.#options;
    const { registry } = turn;
    return time.act(async () => {
      const known = registry.all.find((one) => one.hook === hook && one.name === name && !one.isTerminated);
      if (known !== undefined) return registry.describe(known);
      const itsModel = languageModel ?? registry.defaultModel;
      const creation = {
        name,
        hook,
        ...(itsModel === null ? {} : { languageModel: itsModel }),
        ...(causes.length === 0 ? { peer: true } : hookLinks('', causes)),
      };
      return registry.describe(registry.get(await createAgent(turn, creation, { systemPrompt })));
    });
  }

  harken(agentId: string, text: string | LoggedString): Promise<string> {
    return this.#options.time.act(() => this.#harken(this.#ownAgent(agentId), text));
  }

  response(agentId: string, input?: string | LoggedString): Promise<LoggedString> {
    const { turn, time, asked: questions, acts } = this.#options;
    return time.act(() => {
      const agent = this.#ownAgent(agentId);
      const before = questions.get(agentId) ?? Promise.resolve();
      const answered = before.then(async () => {
        time.assertOpen();
        const asked = input === undefined ? null : await this.#harken(agent, input);
        const given = asked === null || agent.awaitsResponse ? null : acts?.answerTo(asked);
        return given ?? answer(turn, agentId);
      });
      questions.set(
        agentId,
        answered.catch(() => {}),
      );
      return answered;
    });
  }

  async #harken(agent: AgentRecord, text: string | LoggedString): Promise<string> {
    const { agentId } = agent;
    const { hook, causes, chains, isReview } = this.#options;
    if (isReview) agent.isWithheld = true;
    const recorded = this.#recorded(agentId, text);
    if (recorded !== null) return recorded;
    chains.assertNext(hook, causes);
    return this.#say(agentId, text);
  }

  /** The message that the log already has, of an observation that is repeated. */
  #recorded(agentId: string, text: string | LoggedString): string | null {
    const { hook, causes, acts } = this.#options;
    const { substance, cause } = hookLinks(text, causes);
    return acts?.take(hook, agentId, substance ?? [cause ?? []].flat()[0]) ?? null;
  }

  /** Adds a message of the hook to a transcript. */
  async #say(agentId: string, text: string | LoggedString): Promise<string> {
    const { hook, turn, causes } = this.#options;
    const message = { role: 'user', content: checkedText(text), source: { kind: 'system', hook } } as const;
    const { messageId, recorded } = logTranscriptEntry(turn, agentId, message, hookLinks(text, causes));
    await recorded;
    return messageId;
  }

  #receiver(agentId: string | null | undefined): AgentRecord {
    const { registry } = this.#options.turn;
    const root = agentId ?? registry.root?.agentId;
    if (root !== undefined) return registry.getActive(root);
    throw sessionErrors.error(
      'SESSION_NO_ROOT',
      'The session has no root: name the agent that the hook informs.',
      { details: { dispatchId: this.#options.turn.dispatch.dispatchId } },
    );
  }

  #ownAgent(agentId: string): AgentRecord {
    const agent = this.#options.turn.registry.getActive(agentId);
    if (agent.hook === this.#options.hook) return agent;
    throw this.#wrongAgent(agent, 'is not an agent of the hook: use inform');
  }

  #wrongAgent(agent: AgentRecord, why: string): Error {
    const { hook } = this.#options;
    return sessionErrors.error('SESSION_HOOK_AGENT', `For the hook ${hook}, ${inWords(agent)} ${why}.`, {
      details: { hook, agentId: agent.agentId },
    });
  }
}
