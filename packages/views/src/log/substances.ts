import type { EventIds } from './event-ids.ts';
import type { LogNode } from './log-node.ts';
import type { ReadLog } from './read-log.ts';

/**
 * The pass that follows `substance`. By position: the event whose content a delivery carries, as recorded. Of several
 * deliveries of a content that is not in this log, the first takes the place of the content. Following the array always ends: in a
 * cycle, which only bad data has, the earliest event carries nothing.
 */
export function linkSubstances(
  { nodes, messageAt }: Pick<ReadLog, 'nodes' | 'messageAt'>,
  { find }: Pick<EventIds, 'find'>,
): readonly (LogNode | null)[] {
  const substanceAt = new Array<LogNode | null>(nodes.length).fill(null);
  const firsts = new Map<string, LogNode>();
  for (const node of nodes) {
    const { substance } = node.event;
    if (substance === undefined) continue;
    const carried = find(substance);
    substanceAt[node.position] = carried;
    if (carried !== null || messageAt[node.position] == null) continue;
    const first = firsts.get(substance);
    if (first === undefined) firsts.set(substance, node);
    else substanceAt[node.position] = first;
  }
  return withoutCycles(nodes, substanceAt);
}

function withoutCycles(
  nodes: readonly LogNode[],
  substanceAt: readonly (LogNode | null)[],
): readonly (LogNode | null)[] {
  const acyclic = [...substanceAt];
  /** By position: the number of the walk that visited it first, 0 for none. */
  const walks = new Int32Array(nodes.length);
  for (const start of nodes) {
    const walk = start.position + 1;
    let node: LogNode | null = start;
    while (node !== null && walks[node.position] === 0) {
      walks[node.position] = walk;
      node = acyclic[node.position] ?? null;
    }
    if (node !== null && walks[node.position] === walk) acyclic[earliestIn(node, acyclic)] = null;
  }
  return acyclic;
}

function earliestIn(start: LogNode, substanceAt: readonly (LogNode | null)[]): number {
  let earliest = start.position;
  for (let node = substanceAt[earliest]; node != null && node !== start; node = substanceAt[node.position])
    earliest = Math.min(earliest, node.position);
  return earliest;
}
