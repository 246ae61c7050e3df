import type { CapturedEvent } from '@hansard/events';
import { knowledgeOf } from '../knowledge/knowledge-of.ts';
import type { Basis } from '../knowledge/known-item.ts';
import { type LogIndex, nodeNamed } from '../log/log-index.ts';
import type { LogNode } from '../log/log-node.ts';
import { causalGraph, type GraphLink, type LinkKind } from './causal-graph.ts';

/** One event of a chain of causes or effects. */
export interface CausalRow {
  readonly id: string;
  readonly event: CapturedEvent;
  readonly position: number;
  /** The number of links between it and the event that was asked for, which has 0. */
  readonly distance: number;
  /** Its causes, by the ids of other rows. `isLost`: the event is not in this log, and the id is as recorded. */
  readonly because: readonly { readonly kind: LinkKind; readonly id: string; readonly isLost: boolean }[];
  /** Of an answer: how it is known what its model was given. Null: not an answer. */
  readonly basis: Basis | null;
  /** Of the first answer of a turn: whether the log has the tool call that asked for it as a cause. Null: any other event. */
  readonly asked: 'recorded' | 'not recorded' | null;
}

type LinksOf = (node: LogNode) => readonly GraphLink[];

/**
 * All direct and indirect causes of an event or message, oldest first, with the event itself. Each event occurs once,
 * including when bad data has cyclic causes.
 *
 * @throws TypeError for an id that is not in the log
 */
export function causesOf(index: LogIndex, id: string): CausalRow[] {
  const graph = causalGraph(index);
  return rowsFrom(index, blocksNamed(index, id), graph.causesOf, graph.causesOf);
}

/**
 * All direct and indirect effects of an event or message, oldest first, with the event itself.
 *
 * @throws TypeError for an id that is not in the log
 */
export function effectsOf(index: LogIndex, id: string): CausalRow[] {
  const graph = causalGraph(index);
  const rows = rowsFrom(index, blocksNamed(index, id), graph.effectsOf, graph.causesOf);
  const shown = new Set(rows.map((row) => row.id));
  return rows.map((row) => ({
    ...row,
    because: row.distance === 0 ? [] : row.because.filter((link) => shown.has(link.id)),
  }));
}

/** The id of a message means all its blocks, any other id one event. */
function blocksNamed(index: LogIndex, id: string): readonly LogNode[] {
  const node = nodeNamed(index, id);
  return node.event.messageId === id ? (index.messageOf(node)?.blocks ?? [node]) : [node];
}

function rowsFrom(
  index: LogIndex,
  start: readonly LogNode[],
  neighboursOf: LinksOf,
  reasonsOf: LinksOf,
): CausalRow[] {
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
      const { event, position } = node;
      return {
        id: event.id,
        event,
        position,
        distance,
        because,
        ...answerFacts(index, node, reasonsOf(node)),
      };
    })
    .sort((one, other) => one.position - other.position);
}

function answerFacts(
  index: LogIndex,
  node: LogNode,
  links: readonly GraphLink[],
): Pick<CausalRow, 'basis' | 'asked'> {
  const answer = index.messageOf(node) === null ? null : knowledgeOf(index).answerOf(node);
  if (answer === null) return { basis: null, asked: null };
  const isAsked = links.some(
    ({ kind, node: cause }) => kind === 'cause' && cause?.event.type === 'agent:tool_call',
  );
  const asked = isAsked ? 'recorded' : 'not recorded';
  return { basis: answer.basis, asked: answer.beginsTurn ? asked : null };
}
