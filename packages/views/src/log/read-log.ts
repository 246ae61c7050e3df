import type { CapturedEvent, EventOf, KnownEventType } from '@hansard/events';
import { eventErrors, isReadableAs } from '@hansard/events/plain';
import { createTranscriptGatherer, putTogether, type TranscriptEntry } from '@hansard/prompt';
import type { LogDiagnostic } from './diagnostic.ts';
import { idOfName, type LogAgent } from './log-agents.ts';
import type { LogMessage, LogNode } from './log-node.ts';
import { senderOf } from './saying.ts';

/** The events of a log, sorted by kind. References are not followed yet. An unreadable event is in `nodes` only. */
export interface ReadLog {
  readonly nodes: readonly LogNode[];
  /** The messages of all agents, in the order of their first blocks. */
  readonly messages: readonly LogMessage[];
  /** The messages with which agents began, which nobody said or heard here, and the answers that hooks rejected, by position. They are not in `messages`. */
  readonly given: ReadonlyMap<number, LogMessage>;
  /** By position: the message that the event is a block of. */
  readonly messageAt: readonly (LogMessage | null)[];
  readonly pieces: readonly LogNode<EventOf<'agent:piece_of_text'>>[];
  readonly sent: readonly LogNode<EventOf<'agent:message_sent'>>[];
  readonly decisions: readonly LogNode<EventOf<'harness:hook_decision'>>[];
  /** One for each event whose data has a shape that this version does not know. */
  readonly diagnostics: readonly LogDiagnostic[];
}

/**
 * Checks the data of each event that the views read, once, and joins blocks to messages. `agents`: those of the log. They say who
 * sent a message whose sender is recorded without an id.
 */
export function readLog(
  events: readonly CapturedEvent[],
  agents: ReadonlyMap<string, LogAgent> = new Map(),
): ReadLog {
  const nodes = events.map((event, position): LogNode => ({ event, position }));
  const transcripts = createTranscriptGatherer();
  /** By the number of the message. */
  const blocks: LogNode[][] = [];
  const pieces: LogNode<EventOf<'agent:piece_of_text'>>[] = [];
  const sent: LogNode<EventOf<'agent:message_sent'>>[] = [];
  const decisions: LogNode<EventOf<'harness:hook_decision'>>[] = [];
  const diagnostics: LogDiagnostic[] = [];

  const given = new Map<number, LogMessage>();
  for (const node of nodes) {
    const { type } = node.event;
    if (type === 'agent:given' || type === 'agent:rejected') {
      if (!isReadable(node, type)) continue;
      const [entry] = putTogether([node.event]);
      if (entry !== undefined) given.set(node.position, { entry, blocks: [node], main: node });
      continue;
    }
    const number = messageNumber(node.event);
    if (number !== null) {
      const known = blocks[number];
      if (known === undefined) blocks[number] = [node];
      else known.push(node);
    } else if (isReadable(node, 'agent:piece_of_text')) pieces.push(node);
    else if (isReadable(node, 'agent:message_sent')) sent.push(node);
    else if (isReadable(node, 'harness:hook_decision')) decisions.push(node);
    else isReadable(node, 'agent:created');
  }

  function messageNumber(event: CapturedEvent): number | null {
    try {
      return transcripts.add(event);
    } catch (error) {
      if (!eventErrors.is(error, 'EVENT_INVALID')) throw error;
      diagnostics.push({ code: 'event_unreadable', eventId: event.id, message: error.message });
      return null;
    }
  }

  function isReadable<T extends KnownEventType>(node: LogNode, type: T): node is LogNode<EventOf<T>> {
    const { event } = node;
    if (event.type !== type) return false;
    if (isReadableAs(event, type)) return true;
    const message = `The data of ${type} ${event.id} has a shape that this version does not know.`;
    diagnostics.push({ code: 'event_unreadable', eventId: event.id, message });
    return false;
  }

  const withSender = sendersOf(events, agents);
  const messageAt = new Array<LogMessage | null>(nodes.length).fill(null);
  const messages = transcripts.entries.map((entry, number) => {
    const own = blocks[number] ?? [];
    const message: LogMessage = { entry: withSender(entry), blocks: own, main: mainOf(own) };
    for (const { position } of own) messageAt[position] = message;
    return message;
  });
  return { nodes, messages, given, messageAt, pieces, sent, decisions, diagnostics };
}

function mainOf(blocks: readonly LogNode[]): LogNode {
  const first = blocks[0] as LogNode;
  if (blocks.length === 1) return first;
  const firstOf = (type: KnownEventType) => blocks.find(({ event }) => event.type === type);
  return firstOf('agent:tool_call') ?? firstOf('agent:text') ?? first;
}

/** Gives an entry the id of its sender, where the log has it elsewhere. */
function sendersOf(events: readonly CapturedEvent[], agents: ReadonlyMap<string, LogAgent>) {
  let authors: ReadonlyMap<string, string> | undefined;
  const creatorOf = (agentId: string) => {
    const [cause = ''] = [agents.get(agentId)?.created?.cause ?? []].flat();
    authors ??= new Map(events.map(({ id, agentId: author = '' }) => [id, author]));
    return authors.get(cause);
  };
  return (entry: TranscriptEntry): TranscriptEntry => {
    const { source } = entry.message;
    if (source === undefined) return entry;
    const idOf = (name: string) => idOfName(agents, name);
    const agentId = senderOf(source, () => creatorOf(entry.agentId), idOf);
    return agentId === null
      ? entry
      : { ...entry, message: { ...entry.message, source: { ...source, agentId } } };
  };
}
