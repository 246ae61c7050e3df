import type { LogDiagnostic } from './diagnostic.ts';
import type { LogMessage, LogNode } from './log-node.ts';
import type { ReadLog } from './read-log.ts';

/** Lookups of the events of a log by id. */
export interface EventIds {
  /** The event with exactly this id; the first if several have it. */
  eventWithId(id: string): LogNode | null;
  /** The target of a reference: for the id of a message its `main` block, for any other id the event with that id. */
  find(id: string): LogNode | null;
  /** One for each event whose id an earlier event has. */
  readonly diagnostics: readonly LogDiagnostic[];
}

/** The pass that finds events and messages by id. */
export function identifyEvents({
  nodes,
  messages,
  messageAt,
}: Pick<ReadLog, 'nodes' | 'messages' | 'messageAt'>): EventIds {
  const byId = new Map<string, LogNode>();
  // Backwards, so that the first of several events with the same id stays.
  for (let position = nodes.length - 1; position >= 0; position -= 1) {
    const node = nodes[position] as LogNode;
    byId.set(node.event.id, node);
  }
  /** The messages whose id is not that of their first event. */
  const byMessageId = new Map<string, LogMessage>();
  for (const message of messages) {
    const { messageId } = message.entry;
    if (messageId !== message.blocks[0]?.event.id && !byMessageId.has(messageId))
      byMessageId.set(messageId, message);
  }
  return {
    eventWithId: (id) => byId.get(id) ?? null,
    find(id) {
      const node = byId.get(id);
      if (node === undefined) return byMessageId.get(id)?.main ?? null;
      return node.event.messageId === id ? (messageAt[node.position]?.main ?? node) : node;
    },
    diagnostics: byId.size === nodes.length ? [] : repeatedIds(nodes, byId),
  };
}

function repeatedIds(nodes: readonly LogNode[], byId: ReadonlyMap<string, LogNode>): LogDiagnostic[] {
  return nodes.filter((node) => byId.get(node.event.id) !== node).map(({ event: { id } }) => idRepeated(id));
}

export function idRepeated(eventId: string): LogDiagnostic {
  return { code: 'id_repeated', eventId, message: `${eventId} is the id of more than one event.` };
}
