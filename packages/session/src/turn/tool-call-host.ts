import { type HansardError, newEvent } from '@hansard/events';
import {
  type AgentHost,
  type AgentInfo,
  type Delivery,
  type DeliveryOutcome,
  LoggedString,
  type NewAgent,
} from '@hansard/provider';
import { type AgentRecord, inWords } from '../agents/agent-record.ts';
import { createAgent, terminateAgent } from '../agents/create-agent.ts';
import { logOutput } from '../log/log-output.ts';
import { sessionErrors } from '../session-errors.ts';
import { deliver } from './deliver.ts';
import { eventOfFailure } from './recorded-failure.ts';
import type { RunningCall } from './running-calls.ts';
import type { TurnResources } from './turn-resources.ts';

/** Lets an agent speak, because a tool call asks for it: see `AgentHost.respond`. */
export type Respond = (agentId: string, callId: string) => Promise<LoggedString>;

/** What one tool call may do with the agents of its session until the call ends. */
export class ToolCallHost implements AgentHost {
  readonly #turn: TurnResources;
  readonly #caller: AgentRecord;
  readonly #callId: string;
  readonly #respond: Respond;
  readonly #running: RunningCall;
  readonly #failures: string[] = [];
  #isOver = false;

  /** `callId` is the event of the tool call. */
  constructor(
    turn: TurnResources,
    caller: AgentRecord,
    callId: string,
    { respond, running }: { readonly respond: Respond; readonly running: RunningCall },
  ) {
    this.#turn = turn;
    this.#caller = caller;
    this.#callId = callId;
    this.#respond = respond;
    this.#running = running;
  }

  get caller(): AgentInfo {
    return this.#turn.registry.describe(this.#caller);
  }

  listAgents(): readonly AgentInfo[] {
    return this.#turn.registry.list();
  }

  findAgent(nameOrId: string): AgentInfo | null {
    return this.#turn.registry.find(nameOrId, this.#caller.agentId);
  }

  createAgent({ name, systemPrompt, languageModel }: NewAgent): Promise<AgentInfo> {
    return this.#act(async () => {
      const { registry } = this.#turn;
      const itsModel = languageModel ?? registry.modelOf(this.#caller);
      const creation = {
        cause: this.#callId,
        ...(name === undefined ? {} : { name }),
        ...(itsModel === null ? {} : { languageModel: itsModel }),
      };
      const created = createAgent(this.#turn, creation, systemPrompt);
      // It is among the agents of the session before it is durable.
      this.#running.countCreated();
      const agentId = await created;
      return registry.describe(registry.get(agentId));
    });
  }

  terminateAgent(agentId: string): Promise<void> {
    return this.#act(() => terminateAgent(this.#turn, agentId, { cause: this.#callId }));
  }

  logPieceOfText(text: string): Promise<LoggedString> {
    return this.#act(async () => {
      const { log } = this.#turn;
      const messageId = log.createId();
      const links = { id: messageId, agentId: this.#caller.agentId, cause: this.#callId };
      await log.append([newEvent('agent:piece_of_text', { text }, links)]);
      return new LoggedString(text, messageId);
    });
  }

  logOutput(values: readonly unknown[]): Promise<string> {
    return this.#act(async () => {
      const links = { cause: this.#callId };
      const { eventId, recorded } = logOutput(this.#turn, this.#caller.agentId, values, links);
      await recorded;
      return eventId;
    });
  }

  deliver(agentId: string, { text, substance, from }: Delivery): Promise<DeliveryOutcome> {
    const delivery = {
      from: from ?? this.#caller.agentId,
      to: agentId,
      text: String(text),
      substance: substance ?? (typeof text === 'string' ? undefined : text.messageId),
      cause: this.#callId,
    };
    return this.#act(() => deliver(this.#turn, delivery));
  }

  respond(agentId: string): Promise<LoggedString> {
    return this.#act(async () => {
      try {
        return await this.#respond(agentId, this.#callId);
      } catch (error) {
        const failure = eventOfFailure(error);
        if (failure !== null) this.#failures.push(failure);
        throw error;
      }
    });
  }

  /** The recorded failures of agents that the tool let speak. */
  get failures(): readonly string[] {
    return this.#failures;
  }

  /** The call has its result. Later actions of its tool are not recorded. */
  end(): void {
    this.#isOver = true;
  }

  #act<T>(action: () => Promise<T>): Promise<T> {
    const done = this.#isOver ? Promise.reject(this.#isOverError()) : action();
    // A tool that does not wait for it must not end the process when it fails.
    done.catch(() => {});
    return done;
  }

  #isOverError(): HansardError {
    return sessionErrors.error(
      'SESSION_CALL_OVER',
      `The tool call ${this.#callId} of ${inWords(this.#caller)} has ended; a tool must await everything that it does with agents.`,
      { details: { eventId: this.#callId } },
    );
  }
}
