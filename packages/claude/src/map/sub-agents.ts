import type { JsonObject } from '@hansard/events';
import type { Horizon } from './horizon.ts';
import { asId } from './ids.ts';

/** An agent that runs inside the dispatch. */
export interface SubAgent {
  readonly id: string;
  /** The tool call that started it, once the source says so. */
  toolCallId: string | undefined;
  /** Whether only a file beside its records says so. */
  isLinked?: boolean;
  /** Whether the stream has named it. Until then it is identified by its tool call. */
  named: boolean;
  /** Whether its `agent:created` is written. */
  announced: boolean;
  /** The last event of the transcript that it begins with. Absent: it begins with its own transcript. */
  inherits?: string | undefined;
  /** What its `agent:created` will say. It waits for the call that started the agent, which the source names later. */
  waiting?: { readonly time: number; readonly timestamp: string | null; readonly about: JsonObject };
}

/** The fields by which a message names its sub-agent. Their values are in `agent:created`. */
export function fieldsOfAgent(agent: SubAgent | undefined): string[] {
  const place = 'parent_tool_use_id';
  return agent === undefined ? [place] : [place, 'agent_id', 'subagent_type', 'task_description'];
}

/**
 * The sub-agents of a stream. A stream identifies a sub-agent by its id, by the tool call that started it, or by both, and
 * not on every message. All of these resolve to the same agent.
 */
export class SubAgents {
  readonly #byName = new Map<string, SubAgent>();
  readonly #byCall = new Map<string, SubAgent>();
  readonly #horizon: Horizon;

  constructor(horizon: Horizon) {
    this.#horizon = horizon;
  }

  /** Finds the agent by name, or by call if no name is given, and creates it if needed. Undefined if neither is given. */
  resolve(name: string | undefined, toolCallId: string | undefined): SubAgent | undefined {
    if (name === undefined && toolCallId === undefined) return undefined;
    this.#horizon.refer(asId(name));
    const agent = this.find(name, toolCallId) ?? {
      id: asId(name) ?? asId(`agent-${toolCallId}`) ?? 'agent',
      toolCallId,
      named: false,
      announced: false,
    };
    if (toolCallId !== undefined && toolCallId === agent.toolCallId) agent.isLinked = false;
    if (toolCallId !== undefined && agent.toolCallId === undefined) {
      if (agent.announced) this.#horizon.missed();
      else agent.toolCallId = toolCallId;
    }
    if (name !== undefined) {
      agent.named = true;
      this.#byName.set(name, agent);
    }
    if (toolCallId !== undefined && !this.#byCall.has(toolCallId)) this.#byCall.set(toolCallId, agent);
    return agent;
  }

  /** Notes the call that started an agent, as a file beside its records says. */
  link(name: string, toolCallId: string): void {
    const agent = this.resolve(name, undefined);
    if (agent === undefined || agent.toolCallId !== undefined) return;
    agent.toolCallId = toolCallId;
    agent.isLinked = true;
  }

  /** The sub-agents that have no `agent:created` yet and begin with another transcript. */
  get inheriting(): [agentId: string, through: string][] {
    return [...this.#byName].flatMap(([name, { announced, inherits }]) =>
      announced || inherits === undefined ? [] : [[name, inherits]],
    );
  }

  /** The agents whose `agent:created` waits for a call, in the order of their times. */
  get waiting(): (SubAgent & Required<Pick<SubAgent, 'waiting'>>)[] {
    return [...this.#byName.values()]
      .filter((agent) => agent.waiting !== undefined && !agent.announced)
      .map((agent) => agent as SubAgent & Required<Pick<SubAgent, 'waiting'>>)
      .sort((one, other) => one.waiting.time - other.waiting.time || (one.id < other.id ? -1 : 1));
  }

  /** Like `resolve`, but never creates an agent. */
  find(name: string | undefined, toolCallId?: string): SubAgent | undefined {
    const named = name === undefined ? undefined : this.#byName.get(name);
    const called = toolCallId === undefined ? undefined : this.#byCall.get(toolCallId);
    this.#horizon.refer((named ?? called)?.id ?? asId(name));
    if (named !== undefined) return named;
    // One call may start several agents, so another name is another agent.
    return name !== undefined && called?.named ? undefined : called;
  }
}
