import { neutraliseControlsInLine } from '@hansard/events/plain';
import { formatCount } from '@hansard/facts';
import { alignColumns } from '../text/align-columns.ts';
import { branchesOf, firstLines, groupSiblings, type Siblings } from '../text/branches.ts';
import { fitColumns } from '../text/columns.ts';
import type { AgentBranch, AgentTreeNode } from './agent-tree.ts';

export interface RenderAgentsOptions {
  /** The largest width of a line in columns. Absent: unlimited. */
  readonly width?: number | undefined;
  /** The most lines, without those of open agents: equal siblings share a line. Absent: unlimited. */
  readonly most?: number | undefined;
  /** The names of agents that have lines of their own. */
  readonly open?: readonly string[];
}

/** A line of the tree: an agent, agents that share it, or a branch of the agent above it. */
interface Line {
  readonly cells: readonly string[];
  readonly children: readonly Line[];
}

/**
 * Trees as aligned lines with branches: name, id, model, number of messages, and a note for an agent without a creation or a
 * creator. An agent without a name has its id in the place of the name only. The branches of its transcript are below it, by their addresses.
 */
export function renderAgentTree(
  nodes: readonly AgentTreeNode[],
  { width, most = Number.POSITIVE_INFINITY, open = [] }: RenderAgentsOptions = {},
): string {
  if (nodes.length === 0) return '(no agents)';
  const isOpen = ({ agent }: AgentTreeNode) =>
    open.some((name) => name === agent.name || name === agent.agentId);
  const all = branchesOf(nodes).map(({ node }) => node);
  const room = all.reduce((sum, node) => (isOpen(node) ? sum + 1 + node.branches.length : sum), most);
  const bearers = Map.groupBy(all, ({ agent }) => agent.name);
  const isNameShared = ({ agent }: AgentTreeNode) => (bearers.get(agent.name)?.length ?? 0) > 1;
  const kindOf = ({ agent, branches }: AgentTreeNode) =>
    `${agent.languageModel ?? ''} ${branches.length > 0}`;
  const keyOf = (node: AgentTreeNode, rest: string | null) =>
    isNameShared(node) ? `${kindOf(node)} ${noteOf(node)} ${node.agent.name}` : rest;
  const straight = (key: string | null, node: AgentTreeNode) => (node.branches.length > 0 ? null : key);
  // Agents with a name of their own, and agents with branches, share a line only if those with equal names are not enough.
  const keys: readonly ((node: AgentTreeNode) => string | null)[] = [
    (node) => straight(keyOf(node, null), node),
    (node) => straight(keyOf(node, `${kindOf(node)} ${noteOf(node)}`), node),
    (node) => keyOf(node, `${kindOf(node)} ${noteOf(node)}`),
    () => '',
  ];
  const grouped = groupSiblings(
    nodes,
    room,
    keys.map((key) => (node) => (isOpen(node) ? null : key(node))),
    ({ branches }) => branches.length,
  );
  const lines = branchesOf(linesOf(grouped)).map(({ node, branch }) =>
    node.cells.map((cell, at) => neutraliseControlsInLine(at === 0 ? branch + cell : cell)),
  );
  const shown = firstLines(alignColumns(lines).split('\n'), room, 'agents and branches');
  return shown.map((line) => (width === undefined ? line : fitColumns(line, width))).join('\n');
}

function linesOf(roots: readonly Siblings<AgentTreeNode>[]): readonly Line[] {
  const lineOf = (of: Siblings<AgentTreeNode>) => {
    const branches = of.nodes.length === 1 ? of.nodes[0].branches : [];
    const children: Line[] = branches.map((branch) => ({ cells: branchCells(branch), children: [] }));
    return { of, cells: of.nodes.length === 1 ? cellsOf(of.nodes[0]) : sharedCells(of.nodes), children };
  };
  const lines = roots.map(lineOf);
  const waiting = [...lines];
  for (const { of, children } of waiting) {
    const below = of.children.map(lineOf);
    children.push(...below);
    waiting.push(...below);
  }
  return lines;
}

function cellsOf(node: AgentTreeNode): string[] {
  const { agent, messages } = node;
  return [
    agent.name ?? agent.label,
    agent.name === null ? '' : agent.agentId,
    agent.languageModel ?? '–',
    formatCount(messages, 'message'),
    noteOf(node),
  ];
}

/** The cells of siblings that share a line. */
function sharedCells(nodes: readonly AgentTreeNode[]): string[] {
  const same = (value: (node: AgentTreeNode) => string | null) => {
    const values = new Set(nodes.map(value));
    return values.size === 1 ? (values.values().next().value ?? null) : null;
  };
  const name = same(({ agent }) => agent.name);
  const messages = nodes.reduce((sum, node) => sum + node.messages, 0);
  return [
    name === null ? `${nodes.length} agents` : `${nodes.length} × ${name}`,
    '',
    same(({ agent }) => agent.languageModel) ?? '–',
    formatCount(messages, 'message'),
    [same(noteOf) ?? '', sharedBranches(nodes)].filter(Boolean).join(' '),
  ];
}

function sharedBranches(nodes: readonly AgentTreeNode[]): string {
  const count = nodes.reduce((sum, { branches }) => sum + branches.length, 0);
  return count === 0 ? '' : `(${formatCount(count, 'branch', 'branches')})`;
}

function branchCells({ end, state, events, prompts, from }: AgentBranch): string[] {
  return [
    end === null ? 'branch' : `branch ${end}`,
    '',
    state,
    `${formatCount(prompts, 'prompt')}, ${formatCount(events, 'event')}`,
    from === null ? '' : `from ${from}`,
  ];
}

function noteOf({ agent, orphan }: AgentTreeNode): string {
  if (agent.created === null) return agent.agentId === '' ? '' : '(never created)';
  if (orphan) return '(its creator is not found)';
  const { hook } = agent.created.data;
  if (typeof hook === 'string') return `(of the hook ${hook})`;
  return agent.terminated === null ? '' : '(ended)';
}
