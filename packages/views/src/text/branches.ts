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
