import type { LogIndex } from '../log/log-index.ts';
import type { LogNode } from '../log/log-node.ts';
import { referencesIn } from '../log/references.ts';
import { type GivenMessages, givenMessages } from './given-messages.ts';

/**
 * Why an event exists. `cause`, `substance`, `via`, `subject`, `previous`: as recorded. `call`: the tool call that a result answers or
 * a hook decided on. `heard`: for an answer without a recorded cause, a message that its model was given, and that no
 * earlier answer was given.
 */
export type LinkKind = 'cause' | 'substance' | 'via' | 'subject' | 'previous' | 'call' | 'heard';

export interface GraphLink {
  readonly kind: LinkKind;
  /** The id of the event; as recorded if the event is not in this log. */
  readonly id: string;
  /** Null: the event is not in this log. */
  readonly node: LogNode | null;
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
  const given = givenMessages(index);
  const causesAt = index.nodes.map((node) => linksOf(index, node, given));
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

function linksOf(index: LogIndex, node: LogNode, { newTo }: GivenMessages): readonly GraphLink[] {
  const { event } = node;
  const message = index.messageOf(node);
  const isLinked = event.cause !== undefined || event.substance !== undefined;
  // The references of a message are recorded with its first block.
  const recorded = isLinked ? event : (message?.blocks[0]?.event ?? event);
  const links: GraphLink[] = [];
  let isUnlinked = true;
  for (const { kind, id } of referencesIn(recorded)) {
    const target = index.find(id);
    links.push({ kind, id: target?.event.id ?? id, node: target });
    if (kind === 'cause' || kind === 'substance') isUnlinked = false;
  }
  const call = index.callOf(node);
  if (call !== null && !links.some((link) => link.node === call))
    links.push({ kind: 'call', id: call.event.id, node: call });
  if (!isUnlinked || message === null) return links;
  for (const { main, entry } of newTo.get(message) ?? [])
    if (entry.message.role !== 'system') links.push({ kind: 'heard', id: main.event.id, node: main });
  return links;
}
