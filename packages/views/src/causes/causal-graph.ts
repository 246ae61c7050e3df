import type { LogIndex } from '../log/log-index.ts';
import { isActing, type LogNode } from '../log/log-node.ts';
import { referencesIn } from '../log/references-in.ts';
import { resolveReference } from '../log/resolve-reference.ts';
import { type GivenMessages, givenMessages } from './given-messages.ts';

/**
 * Why an event exists. `cause`, `substance`, `via`, `subject`: as recorded. `call`:
 * the call that a result answers or a hook decided on. `heard`: what an answer that names no cause was given and no
 * answer before it.
 */
export type LinkKind = 'cause' | 'substance' | 'via' | 'subject' | 'call' | 'heard';

export interface GraphLink {
  readonly kind: LinkKind;
  /** The id of the event; as recorded where it leads nowhere. */
  readonly id: string;
  /** Null: it is not in this log. */
  readonly node: LogNode | null;
}

interface CausalGraph {
  readonly causes: ReadonlyMap<LogNode, readonly GraphLink[]>;
  readonly effects: ReadonlyMap<LogNode, readonly GraphLink[]>;
}

const graphs = new WeakMap<LogIndex, CausalGraph>();

/** What each event of a log points at, and what points at it. Made when it is first asked for. */
export function causalGraph(index: LogIndex): CausalGraph {
  const known = graphs.get(index);
  if (known !== undefined) return known;
  const given = givenMessages(index);
  const causes = new Map<LogNode, readonly GraphLink[]>();
  const effects = new Map<LogNode, GraphLink[]>();
  for (const node of index.nodes) {
    const links = linksOf(index, node, given);
    if (links.length > 0) causes.set(node, links);
    if (!isActing(node)) continue;
    for (const { kind, node: source } of links) {
      if (source === null) continue;
      const effect: GraphLink = { kind, id: node.event.id, node };
      const others = effects.get(source);
      if (others === undefined) effects.set(source, [effect]);
      else others.push(effect);
    }
  }
  const graph = { causes, effects };
  graphs.set(index, graph);
  return graph;
}

function linksOf(
  index: LogIndex,
  { event, message, call }: LogNode,
  { newTo }: GivenMessages,
): readonly GraphLink[] {
  // What links a message to others stands on its first block.
  const first = message?.blocks[0]?.event ?? event;
  const isLinked = event.cause !== undefined || event.substance !== undefined;
  const links = referencesIn(isLinked ? event : first).map(({ kind, id }): GraphLink => {
    const node = resolveReference(index, id);
    return { kind, id: node?.event.id ?? id, node };
  });
  const isUnlinked = links.every(({ kind }) => kind !== 'cause' && kind !== 'substance');
  if (call !== null && !links.some((link) => link.node === call))
    links.push({ kind: 'call', id: call.event.id, node: call });
  if (!isUnlinked || message === null) return links;
  const heard = (newTo.get(message) ?? [])
    .filter(({ entry }) => entry.message.role !== 'system')
    .map(({ main }): GraphLink => ({ kind: 'heard', id: main.event.id, node: main }));
  return links.concat(heard);
}
