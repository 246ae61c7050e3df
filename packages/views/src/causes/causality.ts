import type { CapturedEvent } from '@hansard/events';
import { type LogIndex, nodeNamed } from '../log/log-index.ts';
import type { LogNode } from '../log/log-node.ts';
import { causalGraph, type GraphLink, type LinkKind } from './causal-graph.ts';

/** One event of a chain of causes or effects. */
export interface CausalRow {
  readonly id: string;
  readonly event: CapturedEvent;
  readonly position: number;
  /** How many links away from the event that was asked about, which is 0. */
  readonly distance: number;
  /** Why it is there, by other rows; of a reference that leads nowhere, the id as recorded. */
  readonly because: readonly { readonly kind: LinkKind; readonly id: string; readonly isLost: boolean }[];
}

type LinksOf = (node: LogNode) => readonly GraphLink[];

/**
 * Everything that brought an event or message about, oldest first, itself last. Each event is there once, also where
 * bad data has causes that go in a ring.
 *
 * @throws TypeError for an id that is not in the log
 */
export function causesOf(index: LogIndex, id: string): CausalRow[] {
  const graph = causalGraph(index);
  return rowsFrom(blocksNamed(index, id), graph.causesOf, graph.causesOf);
}

/**
 * Everything that an event or message brought about, oldest first, itself first.
 *
 * @throws TypeError for an id that is not in the log
 */
export function effectsOf(index: LogIndex, id: string): CausalRow[] {
  const graph = causalGraph(index);
  const rows = rowsFrom(blocksNamed(index, id), graph.effectsOf, graph.causesOf);
  const shown = new Set(rows.map((row) => row.id));
  return rows.map((row) => ({
    ...row,
    because: row.distance === 0 ? [] : row.because.filter((link) => shown.has(link.id)),
  }));
}

/** The id of a message names all its blocks, any other id one event. */
function blocksNamed(index: LogIndex, id: string): readonly LogNode[] {
  const node = nodeNamed(index, id);
  return node.event.messageId === id ? (index.messageOf(node)?.blocks ?? [node]) : [node];
}

function rowsFrom(start: readonly LogNode[], neighboursOf: LinksOf, reasonsOf: LinksOf): CausalRow[] {
  const distances = new Map(start.map((node) => [node, 0]));
  // The iteration of a Map includes the entries that are added during it.
  for (const [node, distance] of distances) {
    for (const link of neighboursOf(node)) {
      if (link.node !== null && !distances.has(link.node)) distances.set(link.node, distance + 1);
    }
  }
  return [...distances]
    .map(([node, distance]): CausalRow => {
      const because = reasonsOf(node).map((link) => ({
        kind: link.kind,
        id: link.id,
        isLost: link.node === null,
      }));
      return { id: node.event.id, event: node.event, position: node.position, distance, because };
    })
    .sort((one, other) => one.position - other.position);
}
