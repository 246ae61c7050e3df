import { type CapturedEvent, type EventData, type EventOf, isEventOf, type JsonValue } from '@hansard/events';
import { givenThrough } from '@hansard/prompt';
import { LoggedString } from '@hansard/provider';
import type { AgentBranch } from './agent-memory.ts';

/** A tool call that has no result yet. */
export interface OpenCall {
  readonly toolCallId: string;
  readonly tool: string;
  /** The message that the call belongs to. */
  readonly messageId: string;
  /** The event of the call. */
  readonly callId: string;
  /** Undefined: a narrative did not keep it. */
  readonly input: JsonValue | undefined;
  /** What a person was asked about the call. Null: nothing. */
  readonly request: EventOf<'harness:approval_requested'> | null;
  /** The answer of the person. Null: there is none. */
  readonly given: EventOf<'harness:approval_given'> | null;
  /** Whether its tool was entered after the answer. */
  readonly isStarted: boolean;
}

/** Whether a call waits for a person, or for being made after the answer. */
export function isWaiting({ request, isStarted }: OpenCall): boolean {
  return request !== null && !isStarted;
}

const waitingTypes: ReadonlySet<string> = new Set([
  'harness:approval_requested',
  'harness:approval_given',
  'harness:call_started',
  'harness:answer_stopped',
]);

/** Events of an agent in their order. Plain lists: a session that is loaded adds each of its events to one. */
interface Received {
  readonly ids: string[];
  /** The indexes of those that ask for a response, ascending. */
  readonly asking: number[];
}

/** The state of an agent without its transcript: a fold over the agent's events. */
export class AgentRecord {
  readonly agentId: string;
  /** The agent has no event at or before this position of the log. */
  readonly after: number;
  name: string | null = null;
  languageModel: string | null = null;
  /** The causes of its `agent:created`. */
  causes: readonly string[] = [];
  /** See `AgentCreation.peer`. */
  isPeer = false;
  /** The hook whose own agent it is. */
  hook: string | null = null;
  wasCreated = false;
  isTerminated = false;
  /** Whether it was shown an answer that nobody may have received: what it says and receives is then not shown on surfaces. */
  isWithheld = false;
  /** The answer that hooks were asked about, and that is neither said nor rejected. Null: there is none. */
  held: EventData<'harness:answer_held'> | null = null;
  /** The messages that were refused since it ended. */
  missed: readonly {
    readonly eventId: string;
    readonly text: LoggedString;
    readonly source: EventData<'user:message'>['source'];
  }[] = [];
  /** The names of the tools that it called. */
  readonly tools = new Set<string>();
  /** How many answers it gave, including those with tool calls. */
  turns = 0;
  #latestAnswer: string | null = null;
  /** The events since the latest answer. */
  #sinceAnswer: Received = { ids: [], asking: [] };
  /** The events between the latest answer and the one before it. */
  #beforeAnswer: Received = { ids: [], asking: [] };
  readonly #openCalls = new Map<string, OpenCall>();
  /** The messages of hooks. */
  readonly #ofHooks = new Set<string>();

  constructor(agentId: string, after: number) {
    this.agentId = agentId;
    this.after = after;
  }

  get openCalls(): readonly OpenCall[] {
    return [...this.#openCalls.values()];
  }

  /** Whether it received something that it has not answered. */
  get awaitsResponse(): boolean {
    return this.#sinceAnswer.asking.length > 0;
  }

  /** Whether a message of a hook is among what it has not answered. */
  get awaitsHook(): boolean {
    const { ids, asking } = this.#sinceAnswer;
    return this.#ofHooks.size > 0 && asking.some((index) => this.#ofHooks.has(ids[index] ?? ''));
  }

  observe(event: CapturedEvent): void {
    const messageId = event.messageId ?? event.id;
    const isMessage = isEventOf(event, 'user:message');
    let asks = isMessage;
    if (isMessage && event.data.withheld === true) this.isWithheld = true;
    if (isMessage && event.data.source.hook !== undefined) this.#ofHooks.add(event.id);
    else if (isEventOf(event, 'agent:tool_result')) asks = this.#close(event.data.toolCallId);
    else if (isEventOf(event, 'agent:given'))
      for (const { tool } of event.data.toolCalls ?? []) this.tools.add(tool);
    else if (event.type === 'agent:terminated') this.isTerminated = true;
    else if (event.type === 'agent:revived') {
      this.isTerminated = false;
      this.missed = [];
    } else if (isEventOf(event, 'agent:undelivered')) {
      const text = new LoggedString(event.data.text, event.substance ?? event.id);
      this.missed = [...this.missed, { eventId: event.id, text, source: event.data.source }];
    } else if (isEventOf(event, 'agent:created')) this.#create(event.data, event.cause);
    else if (isAnswer(event) && messageId !== this.#latestAnswer) this.#answer(messageId);
    else if (event.type === 'agent:inference' && messageId === this.#latestAnswer)
      this.#keepUnanswered(givenThrough(event));
    else if (waitingTypes.has(event.type)) this.#noteWaiting(event);
    if (isEventOf(event, 'agent:rejected')) asks = event.data.retry;
    if (event.type === 'harness:answer_held' && isEventOf(event, 'harness:answer_held'))
      this.held = event.data;
    else if (this.held?.messageId === event.messageId) this.held = null;
    const { ids, asking } = this.#sinceAnswer;
    if (asks) asking.push(ids.length);
    ids.push(event.id);
    if (isEventOf(event, 'agent:tool_call')) {
      const { toolCallId, tool } = event.data;
      const { input } = event.data as { input?: JsonValue };
      const waits = { request: null, given: null, isStarted: false };
      this.#openCalls.set(toolCallId, { toolCallId, tool, messageId, callId: event.id, input, ...waits });
      this.tools.add(tool);
    }
  }

  /**
   * Sets its open work from a branch: messages without an answer there, and calls without a result that no rewind took back. The record has observed
   * all its events.
   */
  standOn({ values, takenBack, last, numberOf = () => null }: AgentBranch): void {
    const onPath = new AgentRecord(this.agentId, this.after);
    const places = throughBeside(values, numberOf);
    for (const event of values) {
      const number = numberOf(event.id) ?? -1;
      for (; (places[0]?.number ?? number) < number; places.shift())
        onPath.#sinceAnswer.ids.push(places[0]?.id ?? '');
      onPath.observe(event);
    }
    this.#latestAnswer = onPath.#latestAnswer;
    this.#sinceAnswer = onPath.#sinceAnswer;
    // A model call says that it was given everything through this event.
    if (last !== null) this.#sinceAnswer.ids.push(last.id);
    this.#beforeAnswer = onPath.#beforeAnswer;
    const before = new Map(this.openCalls.map((call) => [call.callId, call]));
    this.#openCalls.clear();
    for (const call of onPath.openCalls)
      if (!takenBack.has(call.toolCallId))
        this.#openCalls.set(call.toolCallId, before.get(call.callId) ?? call);
  }

  /** A stop of an answer, or what a person was asked about an open call and answered. The first answer counts. */
  #noteWaiting(event: CapturedEvent): void {
    if (isEventOf(event, 'harness:answer_stopped')) {
      if (event.data.messageId === this.#latestAnswer) this.#keepUnanswered(event.data.through);
      return;
    }
    const call = this.#openCalls.get(String(event.data.toolCallId));
    if (call === undefined) return;
    const note = (more: Partial<OpenCall>) => this.#openCalls.set(call.toolCallId, { ...call, ...more });
    if (isEventOf(event, 'harness:approval_requested')) note({ request: event });
    else if (isEventOf(event, 'harness:approval_given')) {
      if (call.request !== null && call.given === null) note({ given: event });
    } else if (event.type === 'harness:call_started') note({ isStarted: true });
  }

  #create(
    { name, languageModel, peer, hook }: EventData<'agent:created'>,
    cause: CapturedEvent['cause'],
  ): void {
    if (this.wasCreated) return;
    this.wasCreated = true;
    this.name = name ?? null;
    this.languageModel = languageModel ?? null;
    this.isPeer = peer === true;
    this.hook = hook ?? null;
    this.causes = cause === undefined ? [] : [cause].flat();
  }

  #answer(messageId: string): void {
    this.turns += 1;
    this.#latestAnswer = messageId;
    this.#beforeAnswer = this.#sinceAnswer;
    this.#sinceAnswer = { ids: [], asking: [] };
  }

  /** The latest answer covers the input of its model; later events still need an answer. */
  #keepUnanswered(through: string | null | undefined): void {
    const before = this.#beforeAnswer;
    const since = this.#sinceAnswer;
    const first = before.ids.lastIndexOf(through ?? '') + 1;
    if (first === 0 && through !== null) return;
    const kept = before.ids.length - first;
    this.#beforeAnswer = {
      ids: before.ids.slice(0, first),
      asking: before.asking.filter((index) => index < first),
    };
    this.#sinceAnswer = {
      ids: [...before.ids.slice(first), ...since.ids],
      asking: [
        ...before.asking.filter((index) => index >= first).map((index) => index - first),
        ...since.asking.map((index) => index + kept),
      ],
    };
  }

  /** Whether the result asks for a response. An agent that has spoken since its call did not wait for it. */
  #close(toolCallId: string): boolean {
    const call = this.#openCalls.get(toolCallId);
    this.#openCalls.delete(toolCallId);
    return call !== undefined && call.messageId === this.#latestAnswer;
  }
}

/** An agent in messages: `Jill (agent_002)`, or its id if it has no name. */
export function inWords({ name, agentId }: Pick<AgentRecord, 'name' | 'agentId'>): string {
  return name === null ? agentId : `${name} (${agentId})`;
}

/** The events that are not on a path, such as rewinds, and through which calls on the path were given everything. In the order of the log. */
function throughBeside(values: readonly CapturedEvent[], numberOf: (id: string) => number | null) {
  const own = new Set(values.map(({ id }) => id));
  const beside = new Map<string, number>();
  for (const event of values) {
    const through = givenThrough(event) ?? null;
    const number = through === null || own.has(through) ? null : numberOf(through);
    if (through !== null && number !== null) beside.set(through, number);
  }
  return [...beside].map(([id, number]) => ({ id, number })).sort((one, other) => one.number - other.number);
}

function isAnswer(event: CapturedEvent): boolean {
  switch (event.type) {
    case 'agent:text':
    case 'agent:rejected':
    case 'agent:thinking':
    case 'agent:tool_call':
      return true;
    // An empty answer.
    case 'agent:output':
      return (
        isEventOf(event, 'agent:output') && event.messageId !== undefined && event.data.parts.length === 0
      );
    default:
      return false;
  }
}
