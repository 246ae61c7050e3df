/**
 * What a tool may do with the agents of the session in which it was called. Everything it does is recorded with the
 * calling tool call as its cause, and durable when the promise resolves.
 */
export interface AgentHost {
  /** The agent that called the tool. */
  readonly caller: AgentInfo;

  /** Every agent that exists or existed in the session, in the order of their creation. */
  listAgents(): readonly AgentInfo[];

  /**
   * The agent that the caller means by a name or an id: a child of the caller first, then any other. Null where there is
   * none, or where the name fits several that are equally near.
   */
  findAgent(nameOrId: string): AgentInfo | null;

  /** Creates a child of the caller. Its `agent:created` is durable before this resolves. */
  createAgent(agent: NewAgent): Promise<AgentInfo>;

  /** Ends an agent: it is asked for nothing more, and its id is never used again. Its transcript stays in the log. */
  terminateAgent(agentId: string): Promise<void>;

  /** Records text that the tool made, to be delivered to several agents (`agent:piece_of_text`). */
  logPieceOfText(text: string): Promise<LoggedText>;

  /**
   * Records values that the caller observed in this call, such as what its code printed, and gives the id of that
   * `agent:output`. They are copied at the call: what becomes of them later is not in the log.
   */
  logOutput(values: readonly unknown[]): Promise<string>;

  /**
   * Delivers text into an agent's transcript, through the hooks. `text` is what the agent gets to read; the content
   * that it carries on is named by `substance`.
   */
  deliver(agentId: string, delivery: Delivery): Promise<DeliveryOutcome>;

  /** Lets an agent speak: its model is called, with its tools, until it has an utterance. */
  respond(agentId: string): Promise<LoggedText>;
}

export interface AgentInfo {
  readonly agentId: string;
  readonly name: string | null;
  readonly languageModel: string | null;
  /** Null for the root. */
  readonly parentAgentId: string | null;
  readonly state: 'active' | 'terminated';
}

export interface NewAgent {
  readonly name?: string;
  readonly systemPrompt?: string;
  /** Absent: that of its parent. */
  readonly languageModel?: string;
}

/** Text, and the event whose content it is. */
export interface LoggedText {
  readonly text: string;
  readonly messageId: string;
}

export interface Delivery {
  readonly text: string;
  /** The event whose content this carries on. Absent: the text is new, and the tool call is its cause. */
  readonly substance?: string;
  /** Who said it; absent: the calling agent. */
  readonly from?: string;
}

export interface DeliveryOutcome {
  readonly status: 'delivered' | 'altered' | 'denied';
  /** What the agent got; null where it was denied. */
  readonly text: string | null;
  readonly reason?: string;
}
