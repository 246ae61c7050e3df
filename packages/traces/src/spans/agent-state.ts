import { MessageList } from './content.ts';
import { LinkList } from './links.ts';

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
