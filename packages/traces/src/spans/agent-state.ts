import { MessageList } from './content.ts';
import { LinkList } from './links.ts';

/** One model message that is not over. */
export interface OpenMessage {
  /** Null: its events do not say which message they belong to. */
  readonly messageId: string | null;
  readonly spanId: string;
  readonly start: number;
  end: number;
  /** Something reached the agent after it, so that what the agent does next is another message. */
  answered: boolean;
  readonly links: LinkList;
  readonly input: MessageList;
  readonly system: MessageList;
  readonly output: MessageList;
}

/** What is known of one agent of a dispatch while its events go by. */
export interface AgentState {
  readonly agentId: string | null;
  /** Null: the conventions' name of the dispatched agent is the role of its dispatch. */
  name: string | null;
  model: string | null;
  readonly spanId: string;
  /** Null: it has no span of its own, it is the dispatched agent. */
  readonly parentSpanId: string | null;
  readonly start: number;
  last: number;
  ended: boolean;
  /** At most two: what the source says of a message may come after the next one began. */
  messages: OpenMessage[];
  /** What reached it since its last model call. */
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

/** Hands over what reached the agent since its last model call. */
export function takePending(agent: AgentState): Pick<OpenMessage, 'links' | 'input' | 'system'> {
  const { links, input, system } = agent;
  agent.links = new LinkList();
  agent.input = new MessageList();
  agent.system = new MessageList();
  return { links, input, system };
}
