/** Every node of trees, top down, with its branch lines: `├─ `, `│  └─ `. */
export function branchesOf<T extends { readonly children: readonly T[] }>(roots: readonly T[]) {
  const found: { readonly node: T; readonly branch: string }[] = [];
  const waiting = roots.map((node) => ({ node, branch: '', below: '' })).reverse();
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { node, branch, below } = next;
    found.push({ node, branch });
    for (const child of node.children.toReversed()) {
      const isLast = child === node.children.at(-1);
      waiting.push({
        node: child,
        branch: below + (isLast ? '└─ ' : '├─ '),
        below: below + (isLast ? '   ' : '│  '),
      });
    }
  }
  return found;
}

/** A node of a tree, or siblings that share its line. */
export interface Siblings<T> {
  readonly nodes: readonly [T, ...T[]];
  readonly children: readonly Siblings<T>[];
}

/**
 * Trees with at most the given number of lines, if grouping can do that: siblings without children of their own share
 * a line if a key is equal. The first key that is enough is used, otherwise the last one. A node whose key is null
 * has a line of its own. `linesBelow`: the lines of a node that has its own, except those of its children.
 */
export function groupSiblings<T extends { readonly children: readonly T[] }>(
  roots: readonly T[],
  most: number,
  keys: readonly ((node: T) => string | null)[],
  linesBelow: (node: T) => number = () => 0,
): readonly Siblings<T>[] {
  let grouped = siblingsBy(roots, () => null);
  for (const key of keys) {
    const lines = branchesOf(grouped).map(({ node: { nodes } }) =>
      nodes.length === 1 ? 1 + linesBelow(nodes[0]) : 1,
    );
    if (lines.reduce((sum, count) => sum + count, 0) <= most) break;
    grouped = siblingsBy(roots, key);
  }
  return grouped;
}

function siblingsBy<T extends { readonly children: readonly T[] }>(
  nodes: readonly T[],
  key: (node: T) => string | null,
): readonly Siblings<T>[] {
  const groupsOf = (some: readonly T[]) =>
    [...Map.groupBy(some, (node) => (node.children.length > 0 ? null : key(node)) ?? node).values()].map(
      (own) => ({ nodes: own as [T, ...T[]], children: [] as Siblings<T>[] }),
    );
  const roots = groupsOf(nodes);
  const waiting = [...roots];
  // The iteration includes what is added during it. Trees can be deeper than calls.
  for (const { nodes: own, children } of waiting) {
    const below = groupsOf(own[0].children);
    children.push(...below);
    waiting.push(...below);
  }
  return roots;
}

/** The first lines of a tree. The last one says how many are left out. */
export function firstLines(lines: readonly string[], most: number, what: string): readonly string[] {
  if (lines.length <= most) return lines;
  return [...lines.slice(0, most - 1), `… ${lines.length - most + 1} more ${what}; --full prints all`];
}
