import { type Knowledge, knowledgeOf } from '../knowledge/knowledge-of.ts';
import type { KnownItem } from '../knowledge/known-item.ts';
import type { LogIndex } from '../log/log-index.ts';
import type { LogNode } from '../log/log-node.ts';
import { referencesIn } from '../log/references.ts';

/**
 * Why an event exists. `cause`, `substance`, `via`, `subject`, `previous`: as recorded. `call`: the tool call that a result
 * answers or a hook decided on. `created`: of the system prompt with which an agent begins, its `agent:created`. Of an answer, what its model was given and no earlier answer was: `heard`, a message or the result of a
 * call; `observed`, values; `summary`, of a compaction. `replaces`: what the summary of a compaction stands for.
 */
export type LinkKind =
  | 'cause'
  | 'substance'
  | 'via'
  | 'subject'
  | 'previous'
  | 'call'
  | 'created'
  | 'heard'
  | 'observed'
  | 'summary'
  | 'replaces';

export interface GraphLink {
  readonly kind: LinkKind;
  /** The id of the event; as recorded if the event is not in this log. */
  readonly id: string;
  /** Null: the event is not in this log. */
  readonly node: LogNode | null;
  /** The other dispatch that has the event. Absent: none is known. */
  readonly dispatchId?: string;
}

export interface CausalGraph {
  causesOf(node: LogNode): readonly GraphLink[];
  effectsOf(node: LogNode): readonly GraphLink[];
}

const graphs = new WeakMap<LogIndex, CausalGraph>();

/** The causes and effects of each event of a log. Computed at the first call for an index, then kept with it. */
export function causalGraph(index: LogIndex): CausalGraph {
  let graph = graphs.get(index);
  if (graph === undefined) {
    graph = linkEvents(index);
    graphs.set(index, graph);
  }
  return graph;
}

const none: readonly GraphLink[] = [];

function linkEvents(index: LogIndex): CausalGraph {
  const knowledge = knowledgeOf(index);
  const causesAt = index.nodes.map((node) => linksOf(index, node, knowledge));
  const effectsAt = new Array<GraphLink[] | null>(causesAt.length).fill(null);
  for (const [position, links] of causesAt.entries()) {
    const node = index.nodes[position];
    if (node === undefined || !isActing(index, node)) continue;
    for (const { kind, node: source } of links) {
      if (source === null) continue;
      const effect: GraphLink = { kind, id: node.event.id, node };
      const others = effectsAt[source.position];
      if (others == null) effectsAt[source.position] = [effect];
      else others.push(effect);
    }
  }
  return {
    causesOf: ({ position }) => causesAt[position] ?? none,
    effectsOf: ({ position }) => effectsAt[position] ?? none,
  };
}

/** Whether a block has effects. Thinking has them only in a message without text and tool calls. */
function isActing(index: LogIndex, node: LogNode): boolean {
  if (node.event.type !== 'agent:thinking') return true;
  const message = index.messageOf(node)?.entry.message;
  return message === undefined || (message.content === null && message.toolCalls === undefined);
}

function linksOf(index: LogIndex, node: LogNode, { agents }: Knowledge): readonly GraphLink[] {
  const { event } = node;
  const message = index.messageOf(node);
  const isLinked = event.cause !== undefined || event.substance !== undefined;
  // The references of a message are recorded with its first block.
  const recorded = isLinked ? event : (message?.blocks[0]?.event ?? event);
  const links: GraphLink[] = [];
  let hasOrigin = false;
  for (const { kind, id, dispatchId } of referencesIn(recorded)) {
    const target = index.find(id);
    if (target !== null) links.push({ kind, id: target.event.id, node: target });
    else links.push({ kind, id, node: null, ...(dispatchId === undefined ? {} : { dispatchId }) });
    // The call that asked for an answer is not what the answer was made from.
    if (kind === 'substance' || (kind === 'cause' && target?.event.type !== 'agent:tool_call'))
      hasOrigin = true;
  }
  const call = index.callOf(node);
  if (call !== null && !links.some((link) => link.node === call))
    links.push({ kind: 'call', id: call.event.id, node: call });
  const creation = links.length === 0 ? index.creationWith(node) : null;
  if (creation !== null) links.push(linkTo('created', creation));
  const ofAgent = agents.get(event.agentId ?? '');
  if (event.type === 'session:compaction')
    for (const { node: replaced } of ofAgent?.replacedBy(node) ?? [])
      links.push(linkTo('replaces', replaced));
  const answer = message === null ? null : (ofAgent?.answerOf(message) ?? null);
  // A recorded origin is preferred to what is only reconstructed.
  if (answer === null || (hasOrigin && answer.basis === 'reconstructed')) return links;
  for (const item of answer.newItems) {
    const kind = givenKinds[item.kind];
    if (kind !== null && !links.some((link) => link.node === item.node)) links.push(linkTo(kind, item.node));
  }
  return links;
}

const givenKinds: Readonly<Record<KnownItem['kind'], LinkKind | null>> = {
  system: null,
  given: null,
  message: 'heard',
  result: 'heard',
  output: 'observed',
  summary: 'summary',
  answer: null,
};

function linkTo(kind: LinkKind, node: LogNode): GraphLink {
  return { kind, id: node.event.id, node };
}
