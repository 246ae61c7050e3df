import type { LogAgent } from '../log/log-agents.ts';
import type { LogIndex } from '../log/log-index.ts';

/** An agent and the agents that it created. */
export interface AgentTreeNode {
  readonly agent: LogAgent;
  /** The number of messages in its transcript. */
  readonly messages: number;
  readonly children: readonly AgentTreeNode[];
  /** The recorded cause of its creation is not in the log, or is later than the creation. */
  readonly orphan: boolean;
}

interface Node extends AgentTreeNode {
  readonly children: Node[];
  orphan: boolean;
}

/**
 * The agents of a log as trees: a child is an agent that a tool call of its parent created. An agent of a hook has no parent. Each agent
 * occurs exactly once.
 */
export function agentTree(index: LogIndex): AgentTreeNode[] {
  const nodes = new Map(
    [...index.agents.values()].map((agent): [string, Node] => {
      const messages = index.transcripts.get(agent.agentId)?.length ?? 0;
      return [agent.agentId, { agent, messages, children: [], orphan: false }];
    }),
  );
  const roots: Node[] = [];
  for (const node of nodes.values()) {
    const { cause: causes, data } = node.agent.created ?? {};
    const [cause] = data?.hook === undefined ? [causes ?? []].flat() : [];
    const parent = cause === undefined ? undefined : parentBy(index, node.agent, cause, nodes);
    if (parent !== undefined) parent.children.push(node);
    else {
      node.orphan = cause !== undefined;
      roots.push(node);
    }
  }
  return roots;
}

/** The parent is an agent that was created earlier, so that bad data cannot form a cycle. */
function parentBy(
  index: LogIndex,
  { created }: LogAgent,
  cause: string,
  nodes: ReadonlyMap<string, Node>,
): Node | undefined {
  const parent = nodes.get(index.find(cause)?.event.agentId ?? '');
  if (parent === undefined || created === null) return undefined;
  const isEarlier =
    parent.agent.created === null || positionOf(index, parent.agent) < positionOf(index, { created });
  return isEarlier ? parent : undefined;
}

function positionOf(index: LogIndex, { created }: Pick<LogAgent, 'created'>): number {
  return created === null ? -1 : (index.eventWithId(created.id)?.position ?? -1);
}
