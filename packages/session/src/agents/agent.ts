import type { ContentPart, EventData } from '@hansard/events';
import type { TranscriptEntry, TranscriptMessage } from '@hansard/prompt';
import type { AgentInfo, DeliveryOutcome, LoggedString } from '@hansard/provider';
import {
  type CompactionOptions,
  logCompaction,
  logOutput,
  type ObservationLinks,
} from '../log/log-transcript-entry.ts';
import { answer, type ResponseOptions, type StructuredOptions, structuredAnswer } from '../turn/answer.ts';
import { deliver } from '../turn/deliver.ts';
import type { TurnResources } from '../turn/turn-resources.ts';
import type { AgentMemory } from './agent-memory.ts';
import type { AgentRecord } from './agent-record.ts';
import { notOfSession } from './agent-registry.ts';
import { type RewindTarget, rewindAgent } from './branches.ts';
import { refuseMessage } from './create-agent.ts';
import { checkedText, substanceOf, textOf } from './given-transcript.ts';

/**
 * An agent of a session. Its transcript is in memory only while it is used. See `Session.root` and `Session.getAgent`.
 */
export class Agent {
  readonly agentId: string;
  readonly #turn: TurnResources;
  readonly #memory: AgentMemory;
  readonly #record: AgentRecord;

  constructor(turn: TurnResources, memory: AgentMemory, agentId: string) {
    this.agentId = agentId;
    this.#turn = turn;
    this.#memory = memory;
    this.#record = turn.registry.get(agentId);
  }

  get name(): string | null {
    return this.#record.name;
  }

  /** Its name, model, parent and state. */
  get info(): AgentInfo {
    return this.#turn.registry.describe(this.#record);
  }

  /**
   * Whether the agent received something that it has not answered: a message, or the results of its tool calls. An event
   * that arrives while its model is called is not in the input of that call, so it still needs an answer: call `response`
   * again. After a session was loaded, check this first.
   */
  get awaitsResponse(): boolean {
    return this.#record.awaitsResponse;
  }

  /** Its messages on its current branch, rebuilt from the log if they are not in memory. */
  transcript(): Promise<readonly TranscriptMessage[]> {
    return this.#memory.transcriptOf(this.agentId);
  }

  /** The transcript with the ids and the links of its messages, such as for `rewind`. */
  entries(): Promise<readonly TranscriptEntry[]> {
    return this.#memory.entriesOf(this.agentId);
  }

  /**
   * Adds a message to the transcript and returns its id. Durable when it resolves. A `LoggedString` sets the substance. Hooks that decide on inputs are asked
   * first about a message of a person or the outside world.
   * @throws SESSION_OPTION_INVALID for what is not a text; SESSION_INPUT_DENIED, SESSION_AGENT_TERMINATED, SESSION_CLOSED
   */
  async harken(
    input: string | LoggedString,
    {
      source,
      via,
      parts,
      during = 'queue',
    }: {
      /**
       * While the agent answers. `interrupt`: calls of its current message that have not begun are not made, so that the model gets the message after the
       * current call. Absent: `queue`: in the next call of the model.
       */
      readonly during?: 'queue' | 'interrupt';
      /** Images, documents, sounds and texts that are attached: bytes in Base64, or parts that the log has. Absent: none. */
      readonly parts?: readonly ContentPart[] | undefined;
      /** The source of the message. Absent: a person. */
      readonly source?: EventData<'user:message'>['source'];
      /** The hook decision that altered it. */
      readonly via?: string;
    } = {},
  ): Promise<string> {
    const text = checkedText(input);
    const substance = substanceOf(input);
    const attached = parts === undefined || parts.length === 0 ? {} : { parts: [...parts] };
    if (this.#record.isTerminated)
      await refuseMessage(this.#turn, this.agentId, {
        text,
        source: source ?? { kind: 'user' },
        ...attached,
        ...substance,
      });
    const message = {
      role: 'user',
      content: text,
      ...(source === undefined ? {} : { source }),
      ...attached,
    } as const;
    const { messageId, recorded } = this.#turn.inputs.receive(this.agentId, message, {
      links: { ...substance, ...(via === undefined ? {} : { via }) },
      onAccepted: () => {
        const turn = during === 'interrupt' ? this.#turn.watch.turnOf(this.agentId) : null;
        if (turn !== null) turn.isInterrupted = true;
      },
    });
    await recorded;
    return messageId;
  }

  /**
   * Logs values that the agent observed, such as the output of its code, as one `agent:output`, and returns the id of that
   * event. Durable when it resolves. Each value is copied at the call (`snapshot` of `@hansard/events`), so later changes
   * do not affect the log; `reviveSnapshot` restores it. It is not a message: it is not in the transcript and asks for no
   * response. The model receives it in its next call.
   * @throws SESSION_AGENT_TERMINATED, SESSION_CLOSED
   */
  async observe(values: readonly unknown[], links: ObservationLinks = {}): Promise<string> {
    const { eventId, recorded } = logOutput(this.#turn, this.agentId, values, links);
    await recorded;
    return eventId;
  }

  /**
   * Replaces the input of the agent's model so far by a summary, from its next call on, and returns the id of the
   * `session:compaction`. Durable when it resolves. The originals stay in the log and in the transcript, and system prompts
   * stay in the input. A later compaction replaces an earlier one.
   * @throws SESSION_AGENT_TERMINATED, SESSION_CLOSED; SESSION_COMPACTION_INVALID if `keptFrom` does not belong to the agent, or is
   * absent while the agent has a message to answer
   */
  async compact(summary: string | LoggedString, options: CompactionOptions = {}): Promise<string> {
    const { eventId, recorded } = logCompaction(this.#turn, this.agentId, textOf(summary), options);
    await recorded;
    return eventId;
  }

  /**
   * Takes the agent back to an earlier place of its transcript, and returns the id of the `session:rewind`. Durable when it resolves. What comes after
   * that place stays in the log, and in no later prompt of this agent. `keptThrough`: the last event that the agent keeps (null: none). `before`: the first that
   * it does not keep, such as a message to be said in other words. A later rewind can return to what was left. The README says what a rewind means for
   * what came after the place.
   * @throws SESSION_REWIND_INVALID, SESSION_AGENT_BUSY while the agent answers, SESSION_AGENT_TERMINATED, SESSION_CLOSED
   */
  async rewind(target: RewindTarget): Promise<string> {
    return rewindAgent(this.#turn, this.agentId, target);
  }

  /**
   * Lets the agent speak: calls its model and its tools until there is an utterance, which may be empty. If a hook sends it a message
   * because of the utterance, it answers again, and this resolves with its last utterance. Everything is
   * durable when this resolves. After an error other than SESSION_CLOSED the session can still be used.
   *
   * `signal` stops this answer, and not the session: see `stop`. `toolChoice` is about the first model call (`none`: about all), `outputSchema` is the JSON
   * Schema that the model is given. With `schema`, the answer is JSON whose value the schema gives (`value`); the agent receives the problem of an answer that does not
   * fit, and answers again. All of it is in the log.
   *
   * Hooks that decide on utterances are asked about the answer before anybody receives it.
   *
   * @throws SESSION_AGENT_STOPPED if the answer was stopped; SESSION_UTTERANCE_DENIED if hooks rejected it; SESSION_SCHEMA_UNMATCHED; SESSION_BUDGET_SPENT; SESSION_MODEL_FAILED, SESSION_TURN_LIMIT, SESSION_AGENT_BUSY, SESSION_AGENT_TERMINATED, SESSION_CLOSED,
   * CONTEXT_BUDGET_TOO_SMALL; the reason of the session's `signal`; the error of the store if a write fails
   */
  async response(options?: ResponseOptions): Promise<LoggedString>;
  async response<T>(options: StructuredOptions<T>): Promise<LoggedString & { readonly value: T }>;
  async response(options: ResponseOptions | StructuredOptions<unknown> = {}): Promise<LoggedString> {
    return 'schema' in options
      ? structuredAnswer(this.#turn, this.agentId, options)
      : answer(this.#turn, this.agentId, undefined, options);
  }

  /**
   * Stops the answer that the agent gives: `response` rejects with SESSION_AGENT_STOPPED. What its model had said is recorded as text of the agent, its open calls get
   * the result `interrupted`, and `harness:answer_stopped` says who stopped it. The session continues: the next message and `response` continue from there. False: it gives no answer.
   */
  stop(reason?: string, by = 'program'): boolean {
    const turn = this.#turn.watch.turnOf(this.agentId);
    turn?.stopAnswer(by, reason);
    return turn !== null;
  }

  /**
   * Says something to another agent, through the hooks. The outcome has the id of the message in the transcript of the other agent.
   * @throws SESSION_AGENT_NOT_FOUND for an agent of another session, SESSION_AGENT_TERMINATED, SESSION_CLOSED
   */
  async inform(destination: Agent, text: string | LoggedString): Promise<DeliveryOutcome> {
    const { registry } = this.#turn;
    if (!(destination instanceof Agent) || destination.#turn.registry !== registry)
      throw notOfSession(registry, destination);
    registry.getActive(this.agentId);
    return deliver(this.#turn, {
      from: this.agentId,
      to: destination.agentId,
      text: checkedText(text),
      ...substanceOf(text),
    });
  }
}
