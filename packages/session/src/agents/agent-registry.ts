import { isDeepStrictEqual } from 'node:util';
import { type CapturedEvent, type EventOf, type HansardError, isEventOf, preview } from '@hansard/events';
import { isStraightEvent } from '@hansard/prompt';
import type { AgentInfo } from '@hansard/provider';
import { sessionErrors } from '../session-errors.ts';
import { AgentRecord, inWords } from './agent-record.ts';

/** An id as `allocateAgentId` makes it. Logs of other programs may have other ids. */
const allocatedId = /^agent_(\d{1,15})$/;

/** Every agent that exists or existed in a session, and the agent of each event: a fold over the log. */
export class AgentRegistry {
  /** Whether the transcript of an agent can have more than one branch. */
  isBranched = false;
  readonly #records = new Map<string, AgentRecord>();
  /** The agent of each event and message, by its id. Filled when it is needed: most events are never asked about. */
  readonly #owners = new Map<string, string>();
  /** What `#owners` does not have yet: ids, each followed by the id of its agent. */
  #newOwners: string[] = [];
  /** Events without an agent before the root was created. They belong to the root once there is one. */
  readonly #beforeRoot: CapturedEvent[] = [];
  readonly #languageModel: string | undefined;
  /** The events that belong to no agent, so far. */
  readonly #ofNobody = new Set<string>();
  /** The parts of requests that the log has, by id. */
  readonly #requests = new Set<string>();
  /** The answers of persons that hold for the session. */
  readonly #standing: {
    readonly tool: string;
    readonly input: unknown;
    readonly answer: EventOf<'harness:approval_given'>;
  }[] = [];
  /** The last event that a fork repeats from its origin. Answers for the session of the origin do not hold in the fork. */
  #repeatedThrough: string | null = null;
  #lastRepeated: string | null = null;
  #latestNumber = 0;
  #root: AgentRecord | null = null;
  /** Whether the first agent without a cause is a peer: then there is no root. */
  #isRootless = false;

  /** `languageModel` replaces the model that the root was created with. */
  constructor(languageModel?: string) {
    this.#languageModel = languageModel;
  }

  /**
   * The first agent without a cause, or else the first agent of the log. Null without any agent, and if the first agent without a
   * cause is a peer.
   */
  get root(): AgentRecord | null {
    return this.#isRootless ? null : (this.#root ?? this.#first);
  }

  /** The agents that no other agent and no hook created: the root, or else all peers. */
  get principals(): readonly AgentRecord[] {
    const { root } = this;
    return root === null
      ? this.all.filter(({ causes, hook }) => causes.length === 0 && hook === null)
      : [root];
  }

  /** The model of an agent that is created without a model and without a cause. */
  get defaultModel(): string | null {
    return this.#languageModel ?? this.#first?.languageModel ?? null;
  }

  get all(): readonly AgentRecord[] {
    return [...this.#records.values()];
  }

  /** `position` is that of the event, or of one before it. */
  observe(event: CapturedEvent, position: number): void {
    const { type, follows, retracts } = event;
    // Nearly no event can begin a branch, so nearly none is asked.
    const isNamed = follows !== undefined || retracts !== undefined;
    if (isNamed || type === 'session:rewind' || type === 'agent:created')
      this.isBranched ||= !isStraightEvent(event);
    const agentId = event.agentId ?? this.#root?.agentId;
    if (type === 'request:stored') this.#requests.add(event.id);
    if (type === 'session:fork' && isEventOf(event, 'session:fork') && event.data.from.product === 'hansard')
      this.#lastRepeated = this.#repeatedThrough ??= event.data.from.recordId ?? null;
    else if (event.id === this.#repeatedThrough) this.#repeatedThrough = null;
    if (agentId === undefined) {
      // Without a root, such an event belongs to the session and to no agent.
      if (!this.#isRootless) this.#beforeRoot.push(event);
      this.#ofNobody.add(event.id);
      return;
    }
    this.#newOwners.push(event.id, agentId);
    if (event.messageId !== undefined && event.messageId !== event.id)
      this.#newOwners.push(event.messageId, agentId);
    let record = this.#records.get(agentId);
    if (record === undefined) {
      record = new AgentRecord(agentId, position - 1);
      this.#records.set(agentId, record);
      this.reserve(agentId);
    }
    record.observe(event);
    if (
      type === 'harness:approval_given' &&
      isEventOf(event, 'harness:approval_given') &&
      event.data.scope === 'session'
    )
      this.#stand(record, event);
    if (event.type === 'agent:created' && event.cause === undefined && !this.#isRootless)
      this.#become(record);
    // What hooks had not decided at the place of a fork is over there.
    if (event.id === this.#lastRepeated) for (const one of this.all) one.held = null;
    if (this.#root !== null && this.#beforeRoot.length > 0)
      for (const early of this.#beforeRoot.splice(0)) this.observe(early, position);
  }

  /** Whether the events of the log now are those that a fork repeats from its origin. */
  get isRepeating(): boolean {
    return this.#repeatedThrough !== null;
  }

  /** The answer of a person that holds for the session and for such a call. Null: there is none. */
  standingAnswer(tool: string, input: unknown): EventOf<'harness:approval_given'> | null {
    const found = this.#standing.find((one) => one.tool === tool && isDeepStrictEqual(one.input, input));
    return found?.answer ?? null;
  }

  #stand({ openCalls }: AgentRecord, answer: EventOf<'harness:approval_given'>): void {
    const call = openCalls.find(({ given }) => given === answer);
    if (call === undefined || this.#repeatedThrough !== null || answer.data.earlier !== undefined) return;
    this.#standing.push({ tool: call.tool, input: call.request?.data.input ?? call.input, answer });
  }

  #become(record: AgentRecord): void {
    if (this.#root !== null) return;
    if (record.isPeer) {
      this.#isRootless = true;
      this.#beforeRoot.length = 0;
    } else this.#root = record;
  }

  /** Keeps an id from being allocated. */
  reserve(agentId: string): void {
    const number = Number(allocatedId.exec(agentId)?.[1] ?? 0);
    this.#latestNumber = Math.max(this.#latestNumber, number);
  }

  /** An id that no agent of the session has or had. */
  allocateAgentId(): string {
    do this.#latestNumber += 1;
    while (this.#records.has(idOf(this.#latestNumber)));
    return idOf(this.#latestNumber);
  }

  has(agentId: string): boolean {
    return this.#records.has(agentId);
  }

  /** Whether the log has a part of a request: an event of the type `request:stored`. */
  hasRequest(eventId: string): boolean {
    return this.#requests.has(eventId);
  }

  /** Whether the session has an event or a message. */
  hasEvent(id: string): boolean {
    return this.#ofNobody.has(id) || this.ownerOf(id) !== null;
  }

  /** The agent of an event or message; null for an id that the log does not have. */
  ownerOf(eventId: string): string | null {
    for (let index = 0; index < this.#newOwners.length; index += 2)
      this.#owners.set(this.#newOwners[index] ?? '', this.#newOwners[index + 1] ?? '');
    this.#newOwners = [];
    return this.#owners.get(eventId) ?? null;
  }

  /** @throws SESSION_AGENT_NOT_FOUND */
  get(agentId: string): AgentRecord {
    const record = this.#records.get(agentId);
    if (record !== undefined) return record;
    throw sessionErrors.error(
      'SESSION_AGENT_NOT_FOUND',
      `The session has no agent ${agentId}; it has ${this.all.map(inWords).join(', ')}.`,
      { details: { agentId } },
    );
  }

  /** @throws SESSION_AGENT_NOT_FOUND, SESSION_AGENT_TERMINATED */
  getActive(agentId: string): AgentRecord {
    const record = this.get(agentId);
    if (!record.isTerminated) return record;
    throw sessionErrors.error(
      'SESSION_AGENT_TERMINATED',
      `The agent ${inWords(record)} was terminated; its transcript can be read, but it receives and says nothing more.`,
      { details: { agentId } },
    );
  }

  list(): AgentInfo[] {
    return this.all.map((record) => this.describe(record));
  }

  describe(record: AgentRecord): AgentInfo {
    const { agentId, name, isTerminated, hook } = record;
    return {
      agentId,
      name,
      languageModel: this.modelOf(record),
      parentAgentId: this.#parentOf(record),
      ...(hook === null ? {} : { hook }),
      state: isTerminated ? 'terminated' : 'active',
    };
  }

  /** The current model of an agent. If it was created with the root's model, it changes with the root's. */
  modelOf({ languageModel }: AgentRecord): string | null {
    return languageModel === (this.root ?? this.#first)?.languageModel
      ? (this.#languageModel ?? languageModel)
      : languageModel;
  }

  /** Finds an agent by name or id for a caller: see `AgentHost.findAgent`. Active agents come before terminated ones. */
  find(nameOrId: string, callerId: string): AgentInfo | null {
    const byId = this.#records.get(nameOrId);
    if (byId !== undefined) return this.describe(byId);
    const named = this.list().filter(({ name }) => name === nameOrId);
    for (const state of ['active', 'terminated']) {
      const inState = named.filter((agent) => agent.state === state);
      const children = inState.filter(({ parentAgentId }) => parentAgentId === callerId);
      const nearest = children.length > 0 ? children : inState;
      if (nearest.length > 0) return nearest.length === 1 ? (nearest[0] ?? null) : null;
    }
    return null;
  }

  get #first(): AgentRecord | null {
    return this.#records.values().next().value ?? null;
  }

  #parentOf({ causes: [cause], hook }: AgentRecord): string | null {
    return cause === undefined || hook !== null ? null : this.ownerOf(cause);
  }
}

/** The error for something that should be an agent of the session. */
export function notOfSession(registry: AgentRegistry, given: unknown): HansardError {
  const agentId: unknown = (given as { agentId?: unknown } | null | undefined)?.agentId;
  const what =
    typeof agentId === 'string'
      ? `That agent ${agentId} is of another session`
      : `${preview(given)} is not an agent`;
  return sessionErrors.error(
    'SESSION_AGENT_NOT_FOUND',
    `${what}; this session has ${registry.all.map(inWords).join(', ')}.`,
    { details: { agentId: typeof agentId === 'string' ? agentId : null } },
  );
}

function idOf(number: number): string {
  return `agent_${String(number).padStart(3, '0')}`;
}
