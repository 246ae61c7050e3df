import { isStraightEvent, type TranscriptBranch, TranscriptTree } from '@hansard/prompt';
import type { LogAgent } from '../log/log-agents.ts';
import type { LogIndex } from '../log/log-index.ts';

/** A branch of the transcript of an agent. */
export interface AgentBranch extends Pick<TranscriptBranch, 'state' | 'events' | 'prompts'> {
  /** Its address: the position of its last event, and the id. Null: the transcript is empty. */
  readonly end: number | null;
  readonly address: string | null;
  /** The position of the last entry that it shares with an earlier branch. Null: there is none. */
  readonly from: number | null;
}

/** An agent and the agents that it created. */
export interface AgentTreeNode {
  readonly agent: LogAgent;
  /** The number of messages in its transcript. */
  readonly messages: number;
  /** The branches of its transcript, in the order in which they began. Empty: it is a straight line. */
  readonly branches: readonly AgentBranch[];
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
  const branches = branchesIn(index);
  const nodes = new Map(
    [...index.agents.values()].map((agent): [string, Node] => {
      const messages = index.transcripts.get(agent.agentId)?.length ?? 0;
      const own = branches(agent.agentId);
      return [agent.agentId, { agent, messages, branches: own, children: [], orphan: false }];
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

/** The branches of each agent with more than one. */
function branchesIn(index: LogIndex): (agentId: string) => AgentBranch[] {
  if (index.events.every(isStraightEvent)) return () => [];
  const tree = new TranscriptTree<number>();
  for (const { event, position } of index.nodes) tree.add(event, position);
  const at = (id: string | null) => (id === null ? null : (index.eventWithId(id)?.position ?? null));
  return (agentId) => {
    const branches = tree.branches(agentId);
    if (branches.length < 2) return [];
    return branches.map(({ state, address, from, events, prompts }) => ({
      ...{ state, end: at(address), address, from: at(from), events, prompts },
    }));
  };
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
