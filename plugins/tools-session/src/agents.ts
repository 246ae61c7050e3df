import type { AgentHost, AgentInfo } from '@hansard/provider';
import { ToolRefusal } from '@hansard/provider/tools';

export function labelOf({ name, agentId }: AgentInfo): string {
  return name ?? agentId;
}

/** The active agents that the caller names, each once, in the order of their first mention. */
export function getAgents(host: AgentHost, namesOrIds: readonly string[]): AgentInfo[] {
  return unique(namesOrIds.map((nameOrId) => getAgent(host, nameOrId)));
}

/** `mayHaveEnded`: an agent that was terminated is not refused here, so that the session names what it is sent. */
export function getAgent(host: AgentHost, nameOrId: string, mayHaveEnded = false): AgentInfo {
  const agent = host.findAgent(nameOrId);
  if (agent === null) throw new ToolRefusal(notFound(host, nameOrId));
  if (agent.agentId === host.caller.agentId)
    throw new ToolRefusal(`${nameOrId} is you: name other agents.${others(host)}`);
  if (agent.state === 'terminated' && !mayHaveEnded)
    throw new ToolRefusal(`The agent ${nameOrId} was terminated.${others(host)}`);
  return agent;
}

export function unique(agents: readonly AgentInfo[]): AgentInfo[] {
  return [...new Map(agents.map((agent) => [agent.agentId, agent])).values()];
}

function notFound(host: AgentHost, nameOrId: string): string {
  const ids = host
    .listAgents()
    .filter(({ name, state }) => name === nameOrId && state === 'active')
    .map(({ agentId }) => agentId);
  if (ids.length > 1)
    return `Several agents are called ${nameOrId}: say which by its id, ${ids.join(' or ')}.`;
  return `There is no agent ${nameOrId}.${others(host)}`;
}

function others(host: AgentHost): string {
  const labels = host
    .listAgents()
    .filter(({ agentId, state }) => state === 'active' && agentId !== host.caller.agentId)
    .map(labelOf);
  return labels.length === 0 ? ' There are no other agents yet.' : ` There are: ${labels.join(', ')}.`;
}
