import type { DispatchEnvelope } from '@hansard/events';
import { addFigures, type DispatchFigures, figuresOf } from '@hansard/facts';

/** A dispatch and the dispatches that it started (D4). */
export interface DispatchTreeNode {
  readonly envelope: DispatchEnvelope;
  readonly own: DispatchFigures;
  /** The sums over the dispatch and all dispatches below it. */
  readonly subtree: DispatchFigures;
  readonly children: readonly DispatchTreeNode[];
  /** Its parent is not in the list, or (in bad data) is below it. */
  readonly orphan: boolean;
}

interface Node extends DispatchTreeNode {
  subtree: DispatchFigures;
  readonly children: Node[];
  orphan: boolean;
}

/** The dispatches of a task as trees. Roots and children are in the order of start (those without a recorded one first), then id; each envelope occurs exactly once. */
export function dispatchTree(envelopes: readonly DispatchEnvelope[]): DispatchTreeNode[] {
  const nodes = [...envelopes].sort(byStart).map((envelope): Node => {
    const own = figuresOf(envelope);
    return { envelope, own, subtree: own, children: [], orphan: false };
  });
  const byId = new Map(nodes.map((node) => [node.envelope.dispatchId, node]));
  const parents = new Map<Node, Node>();
  for (const node of nodes) {
    const { parentDispatchId } = node.envelope;
    if (parentDispatchId === null) continue;
    const parent = byId.get(parentDispatchId);
    if (parent === undefined || isBelow(parent, node, parents)) node.orphan = true;
    else parents.set(node, parent);
  }
  for (const [node, parent] of parents) parent.children.push(node);

  const roots = nodes.filter((node) => !parents.has(node));
  for (const node of inOrder(roots).reverse()) {
    const parent = parents.get(node);
    if (parent !== undefined) parent.subtree = addFigures(parent.subtree, node.subtree);
  }
  return roots;
}

/** Whether a node is the other one or below it. The chain is finite, because a link that would close a cycle is never added. */
function isBelow(node: Node, other: Node, parents: ReadonlyMap<Node, Node>): boolean {
  for (let current: Node | undefined = node; current !== undefined; current = parents.get(current)) {
    if (current === other) return true;
  }
  return false;
}

/** Every node, parents before their children. */
function inOrder(roots: readonly Node[]): Node[] {
  const ordered: Node[] = [];
  const waiting = [...roots];
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    ordered.push(node);
    for (const child of node.children) waiting.push(child);
  }
  return ordered;
}

function byStart(one: DispatchEnvelope, other: DispatchEnvelope): number {
  return compare(one.startedAt ?? '', other.startedAt ?? '') || compare(one.dispatchId, other.dispatchId);
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
