import type { LogIndex } from '../log/log-index.ts';
import { isActing, type LogMessage, type LogNode } from '../log/log-node.ts';
import { referencesIn } from '../log/references-in.ts';
import { resolveReference } from '../log/resolve-reference.ts';

/**
 * Why an event is there. `cause`, `substance`, `via`, `subject`: as recorded (of a substance, also as inferred). `call`:
 * the call that a result answers or a hook decided on. `heard`: what an agent was told since its last message, for a
 * message that names no cause.
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
  const heard = heardBefore(index);
  const causes = new Map<LogNode, readonly GraphLink[]>();
  const effects = new Map<LogNode, GraphLink[]>();
  for (const node of index.nodes) {
    const links = linksOf(index, node, heard);
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
  { event, message, call, substance }: LogNode,
  heard: ReadonlyMap<LogMessage, readonly GraphLink[]>,
): readonly GraphLink[] {
  // What links a message to others stands on its first block.
  const first = message?.blocks[0]?.event ?? event;
  const isLinked = event.cause !== undefined || event.substance !== undefined;
  const links = referencesIn(isLinked ? event : first).map(({ kind, id }): GraphLink => {
    const node = resolveReference(index, id);
    return { kind, id: node?.event.id ?? id, node };
  });
  const isUnlinked = links.every(({ kind }) => kind !== 'cause' && kind !== 'substance');
  // Deliveries of one thing may be known by the first of them, which did not bring the others about.
  const carried = substance?.saying?.event === substance?.event && substance?.saying?.kind === 'utterance';
  for (const [kind, node] of [
    ['substance', carried ? substance : null],
    ['call', call],
  ] as const) {
    const isNew = node !== null && !links.some((link) => link.node === node);
    if (isNew) links.push({ kind, id: node.event.id, node });
  }
  return isUnlinked && message !== null ? links.concat(heard.get(message) ?? []) : links;
}

/** For each answer, what its agent was told since it last answered. */
function heardBefore({ transcripts }: LogIndex): Map<LogMessage, readonly GraphLink[]> {
  const heard = new Map<LogMessage, readonly GraphLink[]>();
  for (const transcript of transcripts.values()) {
    let latest: GraphLink[] = [];
    for (const message of transcript) {
      const { role } = message.entry.message;
      if (role === 'assistant') {
        heard.set(message, latest);
        latest = [];
      } else if (role !== 'system') {
        latest.push({ kind: 'heard', id: message.main.event.id, node: message.main });
      }
    }
  }
  return heard;
}
