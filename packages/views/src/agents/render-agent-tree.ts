import { neutraliseControlsInLine } from '@hansard/events/plain';
import { formatCount } from '@hansard/facts';
import { alignColumns } from '../text/align-columns.ts';
import { branchesOf } from '../text/branches.ts';
import type { AgentTreeNode } from './agent-tree.ts';

/**
 * Trees as aligned lines with branches: name, id, model, number of messages, and a note for an agent without a creation or a
 * creator. An agent without a name has its id in the place of the name only.
 */
export function renderAgentTree(nodes: readonly AgentTreeNode[]): string {
  if (nodes.length === 0) return '(no agents)';
  return alignColumns(
    branchesOf(nodes).map(({ node, branch }) =>
      [
        branch + (node.agent.name ?? node.agent.label),
        node.agent.name === null ? '' : node.agent.agentId,
        node.agent.languageModel ?? '–',
        formatCount(node.messages, 'message'),
        noteOf(node),
      ].map(neutraliseControlsInLine),
    ),
  );
}

function noteOf({ agent, orphan }: AgentTreeNode): string {
  if (agent.created === null) return agent.agentId === '' ? '' : '(never created)';
  if (orphan) return '(its creator is not found)';
  const { hook } = agent.created.data;
  if (typeof hook === 'string') return `(of the hook ${hook})`;
  return agent.terminated === null ? '' : '(ended)';
}
