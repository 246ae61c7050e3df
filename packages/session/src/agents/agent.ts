import type { EventData } from '@hansard/events';
import type { AgentInfo, DeliveryOutcome } from '@hansard/provider';
import type { TranscriptMessage } from '@hansard/views';
import { type CompactionOptions, logCompaction } from '../log/log-compaction.ts';
import { logOutput, type ObservationLinks } from '../log/log-output.ts';
import { logTranscriptEntry } from '../log/log-transcript-entry.ts';
import { LoggedString } from '../log/logged-string.ts';
import { answer } from '../turn/answer.ts';
import { deliver } from '../turn/deliver.ts';
import type { TurnResources } from '../turn/turn-resources.ts';
import type { AgentMemory } from './agent-memory.ts';
import type { AgentRecord } from './agent-record.ts';

export interface HarkenOptions {
  /** Who says it. Absent: a person. */
  readonly source?: EventData<'user:message'>['source'];
  /** The hook decision that altered it on its way. */
  readonly via?: string;
}

/**
 * An agent of a session: a hold on its transcript, which is in memory only while it is used. Sessions make them; see
 * `Session.root` and `Session.getAgent`.
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
   * Whether something reached the agent that it has not answered: a message, or the results of its tool calls. What
   * arrives while its model is called is not in that call, so it is still to be answered: call `response` again. The same
   * after a session was loaded, before anything else is said.
   */
  get awaitsResponse(): boolean {
    return this.#record.awaitsResponse;
  }

  /** Its messages so far, rebuilt from the log where they are not in memory. */
  transcript(): Promise<readonly TranscriptMessage[]> {
    return this.#memory.transcriptOf(this.agentId);
  }

  /**
   * Adds a message to the transcript and gives its id; durable when it resolves. A `LoggedString` gives the substance.
   * @throws SESSION_AGENT_TERMINATED, SESSION_CLOSED
   */
  async harken(input: string | LoggedString, { source, via }: HarkenOptions = {}): Promise<string> {
    this.#turn.registry.getActive(this.agentId);
    const message = {
      role: 'user',
      content: String(input),
      ...(source === undefined ? {} : { source }),
    } as const;
    const { messageId, recorded } = logTranscriptEntry(this.#turn, this.agentId, message, {
      ...(typeof input === 'string' ? {} : { substance: input.messageId }),
      ...(via === undefined ? {} : { via }),
    });
    await recorded;
    return messageId;
  }

  /**
   * Logs values that the agent observed, such as what its code printed, as one `agent:output`, and gives the id of that
   * event; durable when it resolves. Each value is copied at the call (`snapshot` of `@hansard/events`), so the log keeps
   * what was observed whatever becomes of it; `reviveSnapshot` gives it back. It is no message: it is not in the
   * transcript, and asks for no response; the model sees it in its next call.
   * @throws SESSION_AGENT_TERMINATED, SESSION_CLOSED
   */
  async observe(values: readonly unknown[], links: ObservationLinks = {}): Promise<string> {
    const { eventId, recorded } = logOutput(this.#turn, this.agentId, values, links);
    await recorded;
    return eventId;
  }

  /**
   * Puts a summary in the place of what the agent's model saw so far, from its next call on, and gives the id of the
   * `session:compaction`; durable when it resolves. The originals stay in the log and in the transcript; system prompts
   * are seen as before. A later compaction takes the place of an earlier one.
   * @throws SESSION_AGENT_TERMINATED, SESSION_CLOSED; TypeError where `keptFrom` is not the agent's, or is absent while
   * the agent owes a response
   */
  async compact(summary: string, options: CompactionOptions = {}): Promise<string> {
    const { eventId, recorded } = logCompaction(this.#turn, this.agentId, summary, options);
    await recorded;
    return eventId;
  }

  /**
   * Lets the agent speak: its model is called, with its tools, until it has an utterance, which may be empty. All of it
   * is durable when this resolves. After an error the session can be used on, unless it is SESSION_CLOSED.
   *
   * @throws SESSION_MODEL_FAILED, SESSION_TURN_LIMIT, SESSION_AGENT_BUSY, SESSION_AGENT_TERMINATED, SESSION_CLOSED,
   * CONTEXT_BUDGET_TOO_SMALL; the reason of the session's `signal`; the store's error where a write fails
   */
  async response(): Promise<LoggedString> {
    const { text, messageId } = await answer(this.#turn, this.agentId);
    return new LoggedString(text, messageId);
  }

  /**
   * Says something to another agent, through the hooks.
   * @throws SESSION_AGENT_TERMINATED, SESSION_CLOSED
   */
  async inform(destination: Agent, text: string | LoggedString): Promise<DeliveryOutcome> {
    this.#turn.registry.getActive(this.agentId);
    return deliver(this.#turn, {
      from: this.agentId,
      to: destination.agentId,
      text: String(text),
      substance: typeof text === 'string' ? undefined : text.messageId,
    });
  }
}
