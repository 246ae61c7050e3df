import type { LogNode } from './log-node.ts';

/** Where substances go in a ring, which only bad data has, the earliest delivery counts as new. */
export function breakRings(nodes: readonly LogNode[]): void {
  const walks = new Int32Array(nodes.length);
  for (const start of nodes) {
    const walk = start.position + 1;
    let node: LogNode | null = start;
    while (node !== null && walks[node.position] === 0) {
      walks[node.position] = walk;
      node = node.substance;
    }
    if (node !== null && walks[node.position] === walk) earliestIn(node).substance = null;
  }
}

function earliestIn(ring: LogNode): LogNode {
  let earliest = ring;
  for (let node = ring.substance; node !== null && node !== ring; node = node.substance) {
    if (node.position < earliest.position) earliest = node;
  }
  return earliest;
}
