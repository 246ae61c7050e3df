import type { LogAgent } from '../log/log-agents.ts';
import type { LogIndex } from '../log/log-index.ts';

/** An agent with those that it created. */
export interface AgentTreeNode {
  readonly agent: LogAgent;
  /** How many messages its transcript has. */
  readonly messages: number;
  readonly children: readonly AgentTreeNode[];
  /** What is said to have created it is not in the log, or happened after it. */
  readonly orphan: boolean;
}

interface Node extends AgentTreeNode {
  readonly children: Node[];
  orphan: boolean;
}

/** The agents of a log as trees: whose tool call created whom. Every agent is in it exactly once. */
export function agentTree(index: LogIndex): AgentTreeNode[] {
  const nodes = new Map(
    [...index.agents.values()].map((agent): [string, Node] => {
      const messages = index.transcripts.get(agent.agentId)?.length ?? 0;
      return [agent.agentId, { agent, messages, children: [], orphan: false }];
    }),
  );
  const roots: Node[] = [];
  for (const node of nodes.values()) {
    const [cause] = [node.agent.created?.cause ?? []].flat();
    const parent = cause === undefined ? undefined : parentBy(index, node.agent, cause, nodes);
    if (parent !== undefined) parent.children.push(node);
    else {
      node.orphan = cause !== undefined;
      roots.push(node);
    }
  }
  return roots;
}

/** Only an agent that was there before another can be its parent, so that bad data makes no ring. */
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
