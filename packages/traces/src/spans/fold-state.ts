import type { CapturedEvent, DispatchEnvelope, JsonObject } from '@hansard/events';
import type { Attributes } from '@opentelemetry/api';
import { ATTR_GEN_AI_AGENT_ID, ATTR_GEN_AI_AGENT_NAME } from '@opentelemetry/semantic-conventions/incubating';
import type { ContentMode } from '../trace-options.ts';
import type { TraceRecord } from '../trace-record.ts';
import { MessageList } from './content.ts';
import type { RecentSpans } from './identity.ts';
import { type FindSpan, LinkList } from './links.ts';
import type { RecordFactory } from './record-factory.ts';

/** One open model message. */
export interface OpenMessage {
  /** Null if its events do not name their message. */
  readonly messageId: string | null;
  readonly spanId: string;
  readonly start: number;
  end: number;
  /** Whether the agent has received input since, so that its next action belongs to another message. */
  answered: boolean;
  readonly links: LinkList;
  readonly input: MessageList;
  readonly system: MessageList;
  readonly output: MessageList;
}

/** The state of one agent of a dispatch while its events are read. */
export interface AgentState {
  readonly agentId: string | null;
  /** Null if the name is the role of the dispatch, as the conventions want for the dispatched agent. */
  name: string | null;
  model: string | null;
  readonly spanId: string;
  /** Null for the dispatched agent, which has no span of its own. */
  readonly parentSpanId: string | null;
  readonly start: number;
  last: number;
  ended: boolean;
  /** At most two, because the inference of a message may follow the start of the next one. */
  messages: OpenMessage[];
  /** Its input since its last model call. */
  links: LinkList;
  input: MessageList;
  system: MessageList;
}

export function createAgentState(
  fields: Pick<AgentState, 'agentId' | 'name' | 'model' | 'spanId' | 'parentSpanId' | 'start'>,
): AgentState {
  return {
    ...fields,
    last: fields.start,
    ended: false,
    messages: [],
    links: new LinkList(),
    input: new MessageList(),
    system: new MessageList(),
  };
}

/** Removes and returns the agent's input since its last model call. */
export function takePending(agent: AgentState): Pick<OpenMessage, 'links' | 'input' | 'system'> {
  const { links, input, system } = agent;
  agent.links = new LinkList();
  agent.input = new MessageList();
  agent.system = new MessageList();
  return { links, input, system };
}

/** The attributes that name the agent of a span or record. */
export function agentAttributes(agent: AgentState, envelope: DispatchEnvelope): Attributes {
  return {
    [ATTR_GEN_AI_AGENT_ID]: agentIdOf(agent, envelope),
    [ATTR_GEN_AI_AGENT_NAME]: agentNameOf(agent, envelope),
  };
}

export function agentNameOf({ name, agentId, parentSpanId }: AgentState, { role }: DispatchEnvelope): string {
  return name ?? (parentSpanId === null ? role : (agentId ?? role));
}

function agentIdOf({ agentId }: AgentState, { botId, role }: DispatchEnvelope): string {
  return agentId ?? botId ?? role;
}

/** Shared by the parts of the fold of one dispatch. */
export interface FoldContext {
  readonly envelope: DispatchEnvelope;
  readonly factory: RecordFactory;
  readonly content: ContentMode;
  readonly reasoning: boolean;
  readonly onLeftOut: (kind: string, count: number) => void;
  readonly dataOf: (type: string) => boolean;
  readonly recent: RecentSpans;
  readonly find: FindSpan;
  readonly emit: (record: TraceRecord) => void;
  /** Notes an event that a span is made of, so that the span says if the time of the event is not recorded. */
  readonly noteTime: (spanId: string, event: CapturedEvent) => void;
  /** Records that a tool call started a dispatch. */
  readonly startedBy: (childDispatchId: string, spanId: string) => void;
}

/** An event with derived facts. */
export interface FoldStep<T extends JsonObject = JsonObject> {
  readonly event: CapturedEvent;
  readonly data: T;
  readonly agent: AgentState;
  /** Milliseconds since 1970: the time of the event, or of the event before it where that is not recorded. */
  readonly time: number;
}
