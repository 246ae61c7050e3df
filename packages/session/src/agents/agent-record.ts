import { type CapturedEvent, isEventOf } from '@hansard/events';

/** A tool call that has no result yet. */
export interface OpenCall {
  readonly toolCallId: string;
  readonly tool: string;
  /** The message that the call belongs to. */
  readonly messageId: string;
}

/** What a session knows of an agent without its transcript: a fold over the agent's events. */
export class AgentRecord {
  readonly agentId: string;
  /** No event of the agent stands at or before this position of the log. */
  readonly after: number;
  name: string | null = null;
  languageModel: string | null = null;
  /** What its `agent:created` has as cause. */
  causes: readonly string[] = [];
  wasCreated = false;
  isTerminated = false;
  /** How many answers it gave, utterances and tool calls alike. */
  turns = 0;
  /** Whether something reached it that it has not answered. */
  awaitsResponse = false;
  #latestAnswer: string | null = null;
  readonly #openCalls = new Map<string, OpenCall>();

  constructor(agentId: string, after: number) {
    this.agentId = agentId;
    this.after = after;
  }

  get openCalls(): readonly OpenCall[] {
    return [...this.#openCalls.values()];
  }

  observe(event: CapturedEvent): void {
    const messageId = event.messageId ?? event.id;
    if (isEventOf(event, 'user:message')) this.awaitsResponse = true;
    else if (isEventOf(event, 'agent:tool_result')) this.#close(event.data.toolCallId);
    else if (event.type === 'agent:terminated') this.isTerminated = true;
    else if (isEventOf(event, 'agent:created')) this.#create(event.data, event.cause);
    else if (isAnswer(event)) {
      if (messageId !== this.#latestAnswer) this.turns += 1;
      this.#latestAnswer = messageId;
      this.awaitsResponse = false;
    }
    if (isEventOf(event, 'agent:tool_call')) {
      const { toolCallId, tool } = event.data;
      this.#openCalls.set(toolCallId, { toolCallId, tool, messageId });
    }
  }

  #create(
    data: { name?: string | undefined; languageModel?: string | undefined },
    cause: CapturedEvent['cause'],
  ) {
    if (this.wasCreated) return;
    this.wasCreated = true;
    this.name = data.name ?? null;
    this.languageModel = data.languageModel ?? null;
    this.causes = cause === undefined ? [] : [cause].flat();
  }

  #close(toolCallId: string): void {
    const call = this.#openCalls.get(toolCallId);
    this.#openCalls.delete(toolCallId);
    // An agent that has spoken since did not wait for the result.
    if (call !== undefined && call.messageId === this.#latestAnswer) this.awaitsResponse = true;
  }
}

function isAnswer(event: CapturedEvent): boolean {
  switch (event.type) {
    case 'agent:text':
    case 'agent:thinking':
    case 'agent:tool_call':
      return true;
    // An answer without anything in it.
    case 'agent:output':
      return (
        isEventOf(event, 'agent:output') && event.messageId !== undefined && event.data.parts.length === 0
      );
    default:
      return false;
  }
}
