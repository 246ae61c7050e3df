import { breakRings } from './break-rings.ts';
import type { GatheredLog } from './gather-log.ts';
import type { LogNode } from './log-node.ts';
import { resolveReference } from './resolve-reference.ts';

/**
 * Links each delivery with what it carries on, as recorded. Of deliveries of one thing that is not in this log, the first
 * stands for it.
 */
export function linkSubstances(log: GatheredLog): void {
  const firsts = new Map<string, LogNode>();
  for (const node of log.nodes) {
    const { substance } = node.event;
    if (substance === undefined) continue;
    node.substance = resolveReference(log, substance);
    if (node.substance !== null || node.message === null) continue;
    const first = firsts.get(substance);
    if (first === undefined) firsts.set(substance, node);
    else node.substance = first;
  }
  breakRings(log.nodes);
}
