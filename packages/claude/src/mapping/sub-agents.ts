import { asId } from '../values/ids.ts';

/** An agent that runs inside the dispatch. */
export interface SubAgent {
  readonly id: string;
  /** The tool call that brought it about, where the stream says. */
  readonly toolCallId: string | undefined;
  /** Whether the stream has named it; until then it is known by its tool call. */
  named: boolean;
  /** Whether its `agent:created` is written. */
  announced: boolean;
}

/** The fields by which a message names its sub-agent. What they say is in the agent's `agent:created`. */
export function fieldsOfAgent(agent: SubAgent | undefined): string[] {
  const place = 'parent_tool_use_id';
  return agent === undefined ? [place] : [place, 'agent_id', 'subagent_type', 'task_description'];
}

/**
 * The sub-agents of a stream. A stream names one by its own id, by the tool call that made it, or by both, and not on
 * every message; whichever comes, it is the same agent.
 */
export class SubAgents {
  readonly #byName = new Map<string, SubAgent>();
  readonly #byCall = new Map<string, SubAgent>();

  /** The agent of that name, or of that call where no name is given; new where there is none. Neither: undefined. */
  resolve(name: string | undefined, toolCallId: string | undefined): SubAgent | undefined {
    if (name === undefined && toolCallId === undefined) return undefined;
    const agent = this.find(name, toolCallId) ?? {
      id: asId(name) ?? asId(`agent-${toolCallId}`) ?? 'agent',
      toolCallId,
      named: false,
      announced: false,
    };
    if (name !== undefined) {
      agent.named = true;
      this.#byName.set(name, agent);
    }
    if (toolCallId !== undefined && !this.#byCall.has(toolCallId)) this.#byCall.set(toolCallId, agent);
    return agent;
  }

  /** Like `resolve`, for agents that are known already. */
  find(name: string | undefined, toolCallId?: string): SubAgent | undefined {
    const named = name === undefined ? undefined : this.#byName.get(name);
    if (named !== undefined) return named;
    const called = toolCallId === undefined ? undefined : this.#byCall.get(toolCallId);
    // One call may start several agents, so another name is another agent.
    return name !== undefined && called?.named ? undefined : called;
  }
}
