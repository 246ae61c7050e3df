import type { CapturedEvent } from '@hansard/events';
import type { Basis } from '@hansard/prompt';
import { knowledgeOf } from '../knowledge/knowledge-of.ts';
import { type LogIndex, nodeNamed } from '../log/log-index.ts';
import type { LogNode } from '../log/log-node.ts';
import type { Fate } from '../log/saying.ts';
import { causalGraph, type GraphLink, type LinkKind } from './causal-graph.ts';

interface CausalReason {
  readonly kind: LinkKind;
  readonly id: string;
  /** The event is not in this log, and the id is as recorded. */
  readonly isLost: boolean;
  /** The dispatch that has it, for the message of another dispatch: the chain continues in that log. */
  readonly dispatchId?: string;
}

/** One event of a chain of causes or effects. */
export interface CausalRow {
  readonly id: string;
  readonly event: CapturedEvent;
  readonly position: number;
  /** The number of links between it and the event that was asked for, which has 0. */
  readonly distance: number;
  /** Its causes, by the ids of other rows. */
  readonly because: readonly CausalReason[];
  /** Of an answer: how it is known what its model was given. Null: not an answer. */
  readonly basis: Basis | null;
  /** Of the first answer of a turn: whether the log has the tool call that asked for it as a cause. Null: any other event. */
  readonly asked: 'recorded' | 'not recorded' | null;
  /** Why later prompts of its agent do not have the event. Absent: they have it, or it is part of no prompt. */
  readonly fate?: Fate;
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
  return rowsFrom(index, blocksNamed(index, id), graph.causesOf);
}

/**
 * All direct and indirect effects of an event or message, oldest first, with the event itself.
 *
 * @throws TypeError for an id that is not in the log
 */
export function effectsOf(index: LogIndex, id: string): CausalRow[] {
  const graph = causalGraph(index);
  const rows = rowsFrom(index, blocksNamed(index, id), graph.effectsOf);
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

function rowsFrom(index: LogIndex, start: readonly LogNode[], neighboursOf: LinksOf): CausalRow[] {
  const distances = new Int32Array(index.nodes.length).fill(-1);
  const reached = [...start];
  for (const { position } of start) distances[position] = 0;
  // The iteration of an array includes the entries that are added during it.
  for (const node of reached) {
    const next = (distances[node.position] ?? 0) + 1;
    for (const { node: neighbour } of neighboursOf(node)) {
      if (neighbour === null || distances[neighbour.position] !== -1) continue;
      distances[neighbour.position] = next;
      reached.push(neighbour);
    }
  }
  const rows: CausalRow[] = [];
  for (const [position, node] of index.nodes.entries()) {
    const distance = distances[position] ?? -1;
    if (distance === -1) continue;
    const { event } = node;
    const { because, basis, asked } = factsOf(index, node);
    const fate = index.fateOf(node);
    rows.push({
      ...{ id: event.id, event, position, distance, because, basis, asked },
      ...(fate === null ? {} : { fate }),
    });
  }
  return rows;
}

type Facts = Pick<CausalRow, 'because' | 'basis' | 'asked'>;

const facts = new WeakMap<LogIndex, (Facts | undefined)[]>();

/** What every row about an event has. Kept with the index. */
function factsOf(index: LogIndex, node: LogNode): Facts {
  let known = facts.get(index);
  if (known === undefined) {
    known = new Array<Facts | undefined>(index.nodes.length).fill(undefined);
    facts.set(index, known);
  }
  known[node.position] ??= readFacts(index, node);
  return known[node.position] as Facts;
}

function readFacts(index: LogIndex, node: LogNode): Facts {
  const links = causalGraph(index).causesOf(node);
  const because = links.map(({ kind, id, node: cause, dispatchId }) => ({
    kind,
    id,
    isLost: cause === null,
    ...(dispatchId === undefined ? {} : { dispatchId }),
  }));
  const answer = index.messageOf(node) === null ? null : knowledgeOf(index).answerOf(node);
  if (answer === null) return { because, basis: null, asked: null };
  const isAsked = links.some(
    ({ kind, node: cause }) => kind === 'cause' && cause?.event.type === 'agent:tool_call',
  );
  const asked = isAsked ? 'recorded' : 'not recorded';
  return { because, basis: answer.basis, asked: answer.beginsTurn ? asked : null };
}
