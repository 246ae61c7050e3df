import type { CapturedEvent } from '@hansard/events';
import type { AgentInfo, NewAgent } from './agent-host.ts';
import type { LoggedString } from './logged-string.ts';

/** What a hook observes: an event after it was recorded. */
export interface HookObservation {
  /**
   * - `message`: an agent received a message of a person, the outside world, the system or a hook.
   * - `delivery`: an agent received a message of another agent.
   * - `utterance`: an agent said something. Text beside a tool call is not an utterance, so it is observed when the message is over: in a run
   *   with the next event of the agent.
   * - `call` and `result`: an agent called a tool, and received the result.
   * - `end`: an agent was terminated, or the dispatch ended (`session:complete`).
   * - `notification`: the harness, the engine or the session reported something, such as a loop warning, a compaction or the decision
   *   of another hook. Failures of hooks are not observed.
   */
  readonly what: 'message' | 'delivery' | 'utterance' | 'call' | 'result' | 'end' | 'notification';
  readonly dispatchId: string;
  /** The event as recorded; frozen, and shared by all hooks. Its `agentId` is the agent that did or received it. */
  readonly event: CapturedEvent;
}

/**
 * Lets a hook act while it decides or observes. All of it is recorded with the hook as its source. The cause is the observed event; of
 * a decision it is the call, or what brought the delivery about. Each action is durable when its promise resolves.
 *
 * A host can be used until the promise of `decide` or `observe` settles, or its time is over; then its actions reject with
 * DISPATCH_HOOK_OVER.
 *
 * Messages of hooks can bring each other about. A message that would be more than `maxHookChain` messages away from what no hook
 * brought about is not recorded: the action rejects with DISPATCH_HOOK_CHAIN.
 */
export interface HookHost {
  /**
   * Injects a message into an agent's transcript, and returns the id of its `user:message`. Its source is `system` and the hook, or
   * an agent of the hook in `from`. A session delivers a message of an agent like any between agents: other hooks decide
   * about it, and a denial rejects with SESSION_DELIVERY_DENIED. A `LoggedString` sets the substance.
   *
   * The agent reads it in its next model call. If it comes before `response` of the agent resolves, the agent answers it in the same
   * `response`.
   * @param agentId absent or null: the dispatched agent
   * @throws SESSION_AGENT_NOT_FOUND, SESSION_AGENT_TERMINATED, SESSION_CLOSED; SESSION_HOOK_AGENT for an agent of the hook itself;
   * DISPATCH_ENDED if a run takes no messages; DISPATCH_HOOK_CHAIN, DISPATCH_HOOK_OVER
   */
  inform(agentId: string | null | undefined, text: string | LoggedString, from?: string): Promise<string>;

  /** The agents of the session; absent in the run of an engine. */
  readonly agents?: HookAgents;
}

/** The agents of a session, for a hook that is, or uses, an agent. The hook does not observe what its own agents do and receive. */
export interface HookAgents {
  /** Every agent that exists or existed, in the order of their creation. The hook's own have its name as `hook`. */
  listAgents(): readonly AgentInfo[];

  /**
   * Creates an agent of the hook, or returns the active one of that name that it already has, also from before the session was loaded. Without
   * a model it gets the model of the session.
   */
  createAgent(agent: NewAgent & { readonly name: string }): Promise<AgentInfo>;

  /**
   * Adds a message to the transcript of an agent of the hook, and returns its id.
   * @throws SESSION_HOOK_AGENT if the agent is not one of the hook; SESSION_AGENT_TERMINATED, SESSION_CLOSED; DISPATCH_HOOK_CHAIN,
   * DISPATCH_HOOK_OVER
   */
  harken(agentId: string, text: string | LoggedString): Promise<string>;

  /**
   * Lets an agent of the hook answer, with `input` as its message before. Several questions at the same time wait for each other.
   * The hook that asks, and those that wait for it, are not asked about what the agent calls meanwhile.
   * @throws as `harken`; SESSION_MODEL_FAILED, SESSION_TURN_LIMIT, CONTEXT_BUDGET_TOO_SMALL
   */
  response(agentId: string, input?: string | LoggedString): Promise<LoggedString>;
}
