import {
  completionUpdates,
  type DispatchStream,
  type LiveStreamOptions,
  type LoggedFacts,
} from '@hansard/dispatch';
import { type CapturedEvent, type EventData, type NewEvent, newEvent, preview } from '@hansard/events';
import type { TranscriptMessage } from '@hansard/prompt';
import type { AgentInfo, LoggedString } from '@hansard/provider';
import { Agent } from './agents/agent.ts';
import { inWords } from './agents/agent-record.ts';
import { notOfSession } from './agents/agent-registry.ts';
import {
  type AgentCreation,
  agentCreated,
  checkName,
  createPeers,
  type MissedMessage,
  reviveAgent,
  terminateAgent,
} from './agents/create-agent.ts';
import { textOf } from './agents/given-transcript.ts';
import { checkAgentStart } from './check-options.ts';
import type { SessionDiagnostic } from './log/diagnostic.ts';
import { logTranscriptEntry, type TranscriptLinks } from './log/log-transcript-entry.ts';
import { sessionWasClosed } from './log/session-log.ts';
import type { ForkOptions } from './past-session.ts';
import { invalidOption, noRoot, sessionErrors } from './session-errors.ts';
import type { AgentStart } from './session-options.ts';
import type { SessionParts } from './session-parts.ts';
import { assertNotAnswering } from './turn/answer.ts';
import type { PendingCall, PersonAnswer } from './turn/waiting-calls.ts';

type Completion = EventData<'session:complete'>;

/**
 * The state of several agents, backed by the log of one dispatch. It allocates ids, logs events and has every agent that
 * exists or existed. `openSession` creates or continues one.
 *
 * `logAgentCreated`, `logTranscriptEntry` and `logPieceOfText` are the names of the session log; they return an id at once. `append` logs anything else. Writes
 * follow in the order of the calls, and `flushed` resolves when they are durable. After a failed write every call throws SESSION_CLOSED, with the failure as
 * its cause. A link to an event that the session does not have is SESSION_OPTION_INVALID.
 */
export class Session implements AsyncDisposable {
  readonly #parts: SessionParts;
  /** One object for each agent that was asked for. */
  readonly #agents = new Map<string, Agent>();
  readonly #fork: (fork: ForkOptions) => Promise<Session>;
  #diagnostics: readonly SessionDiagnostic[];
  /** Whether it was created, and not continued. */
  readonly isNew: boolean;
  #ending: Promise<void> | null = null;

  constructor(
    parts: SessionParts,
    {
      diagnostics,
      isNew,
      fork,
    }: {
      readonly diagnostics: readonly SessionDiagnostic[];
      readonly isNew: boolean;
      readonly fork: (fork: ForkOptions) => Promise<Session>;
    },
  ) {
    this.#parts = parts;
    this.#fork = fork;
    this.#diagnostics = diagnostics;
    this.isNew = isNew;
  }

  get taskDir(): string {
    return this.#parts.record.dispatch.taskDir;
  }

  get dispatchId(): string {
    return this.#parts.record.dispatch.dispatchId;
  }

  /** @throws SESSION_NO_ROOT for a session of peers */
  get root(): Agent {
    const { root } = this.#parts.record.registry;
    if (root === null) throw noRoot(this.dispatchId);
    return this.#agent(root.agentId);
  }

  /** The agents of a session without a root that no other agent created; empty if it has a root. */
  get peers(): readonly Agent[] {
    const { root, principals } = this.#parts.record.registry;
    return root === null ? principals.map(({ agentId }) => this.#agent(agentId)) : [];
  }

  /** Aborts when the session is stopped or ends. */
  get signal(): AbortSignal {
    return this.#parts.turn.signal;
  }

  /**
   * The messages for the root that people sent through `communication`, as they were recorded, until the session ends or is stopped.
   * The model receives a message in its next call. A program that takes one lets the root answer while `root.awaitsResponse`. One reader.
   */
  get messages(): AsyncIterable<CapturedEvent> {
    return this.#parts.watch.messages;
  }

  /** The diagnostics of the log that was loaded, in its order, then those of agents that were revived. */
  get diagnostics(): readonly SessionDiagnostic[] {
    return this.#diagnostics;
  }

  /** A new id for an agent: `agent_001`, `agent_002` … An id is never used again, even after its agent was terminated. */
  allocateAgentId(): string {
    return this.#parts.record.registry.allocateAgentId();
  }

  /**
   * Creates an agent that no other agent created: a peer, in a session with a root or without one. Its `agent:created` and
   * its system prompt are one append, durable when this resolves. Without a model it gets the model of the session.
   * @throws SESSION_OPTION_INVALID, SESSION_GIVEN_INVALID, SESSION_CLOSED
   */
  async createAgent(agent: AgentStart = {}): Promise<Agent> {
    checkAgentStart(agent);
    const [agentId = ''] = await createPeers(this.#parts.record, [agent]);
    return this.#agent(agentId);
  }

  /**
   * Logs that an agent was created, and returns the id of that event: `createAgent` is shorter. An agent without a cause that
   * is not a `peer` is a second root, which is a diagnostic when the session is loaded.
   * @throws SESSION_AGENT_EXISTS if the session has or had that agent, SESSION_OPTION_INVALID for an empty name, SESSION_CLOSED
   */
  logAgentCreated(agentId: string, creation: AgentCreation = {}): string {
    checkName(creation.name);
    const { log, registry } = this.#parts.record;
    if (registry.has(agentId))
      throw sessionErrors.error(
        'SESSION_AGENT_EXISTS',
        `The session has or had an agent ${inWords(registry.get(agentId))}; take an id from allocateAgentId.`,
        { details: { agentId } },
      );
    const id = log.createId();
    void log.append([agentCreated(agentId, creation, id)]);
    return id;
  }

  /**
   * Adds a message to an agent's transcript, and returns its id.
   * @throws SESSION_OPTION_INVALID for a link to an event that the session does not have; SESSION_AGENT_NOT_FOUND, SESSION_AGENT_TERMINATED for all but the result of a call, SESSION_CLOSED; TypeError
   * or EVENT_INVALID for an invalid message
   */
  logTranscriptEntry(agentId: string, message: TranscriptMessage, links: TranscriptLinks = {}): string {
    this.#assertLinks([links]);
    return logTranscriptEntry(this.#parts.record, agentId, message, links).messageId;
  }

  /**
   * Logs text that an agent makes to be delivered to others, and returns the id of that event.
   * @throws SESSION_AGENT_NOT_FOUND, SESSION_CLOSED
   */
  logPieceOfText(agentId: string, content: string | LoggedString, cause: string | readonly string[]): string {
    const { log, registry } = this.#parts.record;
    registry.get(agentId);
    this.#assertLinks([{ cause }]);
    const id = log.createId();
    void log.append([newEvent('agent:piece_of_text', { text: textOf(content) }, { id, agentId, cause })]);
    return id;
  }

  /**
   * Logs events, such as `game:turn` of your own, all or none. Resolves to their ids when they are durable.
   * @throws SESSION_OPTION_INVALID for no list, or a link to an event that the session does not have; EVENT_INVALID, EVENT_NOT_JSON, EVENT_EPHEMERAL, SESSION_CLOSED
   */
  async append(events: readonly NewEvent[]): Promise<string[]> {
    if (!Array.isArray(events))
      throw invalidOption('events', `Events must be a list; they are ${preview(events)}.`);
    this.#assertLinks(events);
    return (await this.#parts.record.log.append(events)).map(({ id }) => id);
  }

  /**
   * The session live: the events after the cursor, then those that are appended, and the deltas of its models. Ends when the
   * session does, or with the error of a failed write.
   */
  stream(options: LiveStreamOptions = {}): DispatchStream {
    return this.#parts.record.log.stream(options);
  }

  /** Resolves when all that was logged is durable; rejects with the error of the first write that failed. */
  flushed(): Promise<void> {
    return this.#parts.record.log.flushed();
  }

  /** Every agent that exists or existed, in the order of their creation. */
  listAgents(): readonly AgentInfo[] {
    return this.#parts.record.registry.list();
  }

  /**
   * An agent with its transcript in memory, rebuilt from the log if necessary. The agent may be terminated or evicted. A session has one
   * object for each of its agents.
   * @throws SESSION_AGENT_NOT_FOUND
   */
  async getAgent(agentId: string): Promise<Agent> {
    const agent = this.#agent(agentId);
    await this.#parts.memory.transcriptOf(agentId);
    return agent;
  }

  /**
   * Removes an agent's transcript from memory. It is rebuilt from the log when it is needed again.
   * @throws SESSION_AGENT_NOT_FOUND
   */
  async evictAgent(agentId: string): Promise<void> {
    this.#parts.record.registry.get(agentId);
    await this.#parts.memory.evict(agentId);
  }

  /**
   * Ends an agent (`agent:terminated`): it receives and says nothing more, in this session and after it is loaded again, unless it is revived.
   * @throws SESSION_AGENT_NOT_FOUND, SESSION_AGENT_TERMINATED, SESSION_AGENT_IS_ROOT, SESSION_CLOSED
   */
  async terminateAgent(agentId: string, reason?: string): Promise<void> {
    await terminateAgent(this.#parts.record, agentId, { reason });
  }

  /**
   * Makes an agent that has ended active again (`agent:revived`), with its whole transcript, in this session and after it is loaded again.
   * What was sent to it in between was refused and is in `missed`: deliver it with `harken`, which asks no hooks, where the agent needs it. If the
   * session lacks tools that its transcript calls, `diagnostics` names them (`tools_gone`).
   * @throws SESSION_AGENT_NOT_FOUND, SESSION_AGENT_ACTIVE; SESSION_AGENT_BUSY while the answer that it was giving when it ended is under way;
   * SESSION_CLOSED
   */
  async revive(
    agent: Agent | string,
    reason?: string,
  ): Promise<{ readonly agent: Agent; readonly missed: readonly MissedMessage[] }> {
    const { record, turn } = this.#parts;
    const agentId = typeof agent === 'string' ? agent : this.#own(agent);
    assertNotAnswering(turn, record.registry.get(agentId));
    const toolNames = new Set(turn.toolbox.definitions.map(({ name }) => name));
    const revived = await reviveAgent(record, agentId, { reason, toolNames });
    const { eventId, position, missed, missingTools } = revived;
    if (missingTools.length > 0) {
      const message = `agent:revived ${eventId} (position ${position}): the session does not have these tools of ${agentId}: ${missingTools.join(', ')}.`;
      this.#diagnostics = [...this.#diagnostics, { code: 'tools_gone', eventId, position, message }];
    }
    return { agent: this.#agent(agentId), missed };
  }

  /**
   * Begins another session, whose agents stand where they stood after an event of this one, and opens it with the options of this one. See `forkSession`.
   * This session continues as it is.
   * @throws SESSION_EVENT_NOT_FOUND, SESSION_FORK_INVALID, STORE_DISPATCH_EXISTS; the errors of `openSession` and of a failed write
   */
  async fork(fork: ForkOptions = {}): Promise<Session> {
    await this.#parts.record.log.flushed();
    return this.#fork(fork);
  }

  /** The calls that wait for a person, in the order of their agents. */
  pending(): readonly PendingCall[] {
    return this.#parts.turn.waiting.pending;
  }

  /**
   * Answers a call that waits for a person: `call` is its event, or the id of the tool call if only one such call waits. The first answer counts. Durable when it
   * resolves; the call then continues by itself.
   * @throws SESSION_ANSWER_REFUSED, SESSION_CLOSED, EVENT_INVALID
   */
  answer(call: string, answer: PersonAnswer): Promise<void> {
    return this.#parts.turn.waiting.answer(call, answer);
  }

  /**
   * Stops the agents of the session and its workers permanently (`harness:abort`). `close` then ends it as `aborted`.
   */
  abort(reason?: string, by?: string): void {
    this.#parts.watch.abort(reason, by);
  }

  /**
   * Ends the session: stops its agents, logs `session:complete` with the total cost, and completes the envelope. The result
   * may be an answer of `Agent.response`. Its workers continue, and this resolves after their ends.
   * @throws SESSION_CLOSED if it has already ended; EVENT_INVALID for a value that cannot be recorded (the session stays open);
   * the error of the first write that failed
   */
  async complete(status: Completion['status'] = 'completed', result?: string | LoggedString): Promise<void> {
    if (this.#ending !== null) throw sessionWasClosed(this.dispatchId);
    const text = result instanceof String ? String(result) : result;
    const outcome = { status, ...(text === undefined ? {} : { result: text }) };
    this.#parts.record.log.check([newEvent('session:complete', outcome, { id: 'not-recorded' })]);
    this.#ending = this.#end(outcome);
    await this.#ending;
  }

  /**
   * Completes the session unless it is complete: as `aborted` if its signal, a person or a limit stopped it. A session with a call that waits for a
   * person is not completed, unless a person or a limit stopped the session: it stays `running` without an owner until it is loaded. Safe to call twice.
   */
  close(): Promise<void> {
    this.#ending ??= this.#end({ status: this.#parts.life.isAborted ? 'aborted' : 'completed' }, true);
    return this.#ending;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** @throws SESSION_OPTION_INVALID for a link to an event that is neither in the session nor among these */
  #assertLinks(events: readonly (TranscriptLinks & { readonly id?: string })[]): void {
    const { registry, log } = this.#parts.record;
    log.assertOpen();
    const own = new Set(events.map((event) => event?.id));
    for (const event of events)
      for (const link of ['substance', 'cause', 'via'] as const)
        for (const id of [event?.[link] ?? []].flat())
          if (!own.has(id) && !registry.hasEvent(String(id)))
            throw invalidOption(
              link,
              `The ${link} ${preview(id)} names an event that this session does not have.`,
            );
  }

  /** @throws SESSION_AGENT_NOT_FOUND for an agent of another session */
  #own(agent: Agent): string {
    const { registry } = this.#parts.record;
    if (agent instanceof Agent && this.#agents.get(agent.agentId) === agent) return agent.agentId;
    throw notOfSession(registry, agent);
  }

  #agent(agentId: string): Agent {
    const known = this.#agents.get(agentId);
    if (known !== undefined) return known;
    const { turn, memory } = this.#parts;
    const agent = new Agent(turn, memory, agentId);
    this.#agents.set(agentId, agent);
    return agent;
  }

  async #end(outcome: Pick<Completion, 'status' | 'result'>, isSuspending = false): Promise<void> {
    const { record, turn, hooks, watch, life } = this.#parts;
    const { log } = record;
    turn.waiting.stop();
    await watch.lastLetters();
    watch.end();
    // What was recorded is observed before the agents are stopped, and what they still record before the end.
    await hooks.drained();
    life.stop(sessionWasClosed(this.dispatchId));
    await Promise.allSettled([...turn.answering.values(), turn.waiting.over()]);
    await hooks.drained();
    try {
      if (isSuspending && turn.waiting.isWaiting && !watch.isStopped) await log.suspend();
      else
        await log.end(
          (facts) => newEvent('session:complete', { ...outcome, ...figuresOf(facts) }),
          (completedAt) => completionUpdates(outcome, 'ended', completedAt),
        );
      await hooks.drained();
    } finally {
      life.end();
    }
    await watch.workersOver();
  }
}

/** A turn of a session is a model call. Unknown figures are omitted. */
function figuresOf({ calls, tokens, costUsd }: LoggedFacts): Pick<Completion, 'costUsd' | 'usage' | 'turns'> {
  return {
    turns: calls,
    ...(tokens === null ? {} : { usage: tokens }),
    ...(costUsd === null ? {} : { costUsd }),
  };
}
