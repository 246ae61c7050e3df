import type { LoggedString } from './logged-string.ts';

/**
 * Lets a tool act on the agents of the session in which it was called. Each action is durable when the promise resolves. What
 * the tool adds to the log has the tool call as its `cause`, except the delivery of existing content, which has that content
 * as its `substance`.
 */
export interface AgentHost {
  /** The agent that called the tool. */
  readonly caller: AgentInfo;

  /** Every agent that exists or existed in the session, in the order of their creation. */
  listAgents(): readonly AgentInfo[];

  /**
   * Finds an agent by id, or else by name: an active one before a terminated one, and of these a child of the caller before
   * any other. Null if there is none, or if several remain.
   */
  findAgent(nameOrId: string): AgentInfo | null;

  /** Creates a child of the caller. Its `agent:created` is durable before this resolves. */
  createAgent(agent: NewAgent): Promise<AgentInfo>;

  /** Ends an agent. It is not called again, and its id is not used again. Its transcript stays in the log. */
  terminateAgent(agentId: string): Promise<void>;

  /** Records text that the tool made, to be delivered to several agents (`agent:piece_of_text`). */
  logPieceOfText(text: string | LoggedString): Promise<LoggedString>;

  /**
   * Delivers text into an agent's transcript, after the hooks have decided. `text` is the text that the agent reads;
   * `substance` names the event whose content it carries.
   */
  deliver(agentId: string, delivery: Delivery): Promise<DeliveryOutcome>;

  /**
   * Calls an agent's model, and the tools that it requests, until the agent has an utterance. Different agents can speak at the
   * same time. The tool call is the cause of the first answer of the agent's model. If an agent fails, its recorded failure becomes a cause of the result of this tool call.
   */
  respond(agentId: string): Promise<LoggedString>;
}

export interface AgentInfo {
  readonly agentId: string;
  readonly name: string | null;
  readonly languageModel: string | null;
  /** Null for the root, for peers and for agents of hooks. */
  readonly parentAgentId: string | null;
  /** The hook whose own agent it is; absent: none. */
  readonly hook?: string;
  readonly state: 'active' | 'terminated';
}

export interface NewAgent {
  readonly name?: string;
  readonly systemPrompt?: string | LoggedString;
  /** Absent: the model of its parent. */
  readonly languageModel?: string;
}

export interface Delivery {
  readonly text: string | LoggedString;
  /**
   * The event whose content this carries. Absent: that of a `LoggedString`; for a string, the text is new and the tool call is
   * its cause.
   */
  readonly substance?: string;
  /** The agent that said it; absent: the calling agent. */
  readonly from?: string;
}

export interface DeliveryOutcome {
  readonly status: 'delivered' | 'altered' | 'denied';
  /** The text that the agent received; null if it was denied. */
  readonly text: string | null;
  /** The id of the message in the transcript of the receiver; null if it was denied. */
  readonly messageId: string | null;
  readonly reason?: string;
}
