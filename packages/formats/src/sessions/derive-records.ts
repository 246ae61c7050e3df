import { type CapturedEvent, definedOnly, type JsonObject } from '@hansard/events';
import {
  putTogether,
  type TranscriptEntry,
  type TranscriptMessage,
  type TranscriptToolCall,
} from '@hansard/prompt';
import { type SessionDialect, unknownTypePrefix } from '../session-dialect.ts';
import { createLinkWriter, type WrittenLinks } from './link-writer.ts';
import { sameNames, type WrittenNames } from './written-names.ts';

/** A record derived from its events alone, without fields that only the original record has. */
export interface DerivedRecord {
  readonly record: JsonObject;
  /** The events of its content. The first one gives it its id. */
  readonly events: readonly [CapturedEvent, ...CapturedEvent[]];
  /** The keys of the links that the dialect cannot hold. */
  readonly lost: ReadonlySet<string>;
  /** The value of a v1 log for the sender of a user message. */
  readonly source?: string;
}

/** The agent of events without an agent id. */
const dispatchedAgent = 'agent_root';

/**
 * The records of events, in the order of their first events. Without `names`, ids are those of the events.
 * @throws EVENT_INVALID for a part of a transcript whose data has a shape that this version does not know
 */
export function deriveRecords(
  dialect: SessionDialect,
  events: readonly CapturedEvent[],
  names: WrittenNames = sameNames,
): DerivedRecord[] {
  const entries = new Map(putTogether(events).map((entry) => [entry.events[0], entry]));
  const units = events.flatMap((event) => unitOf(dialect, event, entries.get(event)));
  const writeLinks = createLinkWriter(
    dialect,
    events,
    units.map(({ blocks }) => blocks),
    names,
  );
  return units.map(({ entry, blocks }): DerivedRecord => {
    const links = writeLinks(entry ?? blocks[0], blocks, entry?.message);
    const base = { events: blocks, lost: links.lost };
    if (entry === undefined) return { ...base, record: ownRecord(blocks[0], links) };
    const source = entry.message.role === 'user' ? { source: sourceName(entry.message, names) } : {};
    const sourceField = dialect.sourceKey === null ? {} : source;
    // No dialect can say what in the outside world sent a message.
    const isWhatLost = entry.message.source?.what !== undefined;
    const lost = isWhatLost ? new Set([...links.lost, 'source']) : links.lost;
    const record = entryRecord(dialect, blocks[0].id, entry, sourceField, links);
    return { events: blocks, lost, ...source, record };
  });
}

interface Unit {
  readonly entry?: TranscriptEntry;
  readonly blocks: DerivedRecord['events'];
}

function unitOf(dialect: SessionDialect, event: CapturedEvent, entry: TranscriptEntry | undefined): Unit[] {
  if (entry !== undefined) {
    // The dialects have no record for thinking.
    const [first, ...others] = entry.events.filter(({ type }) => type !== 'agent:thinking');
    return first === undefined ? [] : [{ entry, blocks: [first, ...others] }];
  }
  const isOwn =
    event.type === 'agent:created' ||
    (event.type === 'agent:piece_of_text' && dialect.kinds.includes('piece_of_text')) ||
    event.type.startsWith(unknownTypePrefix(dialect));
  return isOwn ? [{ blocks: [event] }] : [];
}

function ownRecord(event: CapturedEvent, { fields }: WrittenLinks): JsonObject {
  const { id, type, data, agentId = dispatchedAgent } = event;
  if (type === 'agent:created') {
    return {
      message_id: id,
      event_type: 'agent_created',
      agent_id: agentId,
      ...fields,
      ...definedOnly({ name: data.name, language_model: data.languageModel }),
    };
  }
  if (type !== 'agent:piece_of_text') return data;
  return {
    message_id: id,
    event_type: 'piece_of_text',
    agent_id: agentId,
    content: data.text,
    ...fields,
  };
}

function entryRecord(
  dialect: SessionDialect,
  id: string,
  entry: TranscriptEntry,
  sourceField: JsonObject,
  { fields }: WrittenLinks,
): JsonObject {
  const { message, agentId } = entry;
  const { role, content, toolCalls, toolCallId, tool } = message;
  return {
    message_id: id,
    ...(dialect.entryType === null ? {} : { event_type: dialect.entryType }),
    agent_id: agentId === '' ? dispatchedAgent : agentId,
    role,
    ...definedOnly({
      tool_call_id: toolCallId,
      name: tool,
      content: content ?? undefined,
      tool_calls: toolCalls?.map(callRecord),
    }),
    ...sourceField,
    ...fields,
  };
}

function callRecord({ toolCallId, tool, input }: TranscriptToolCall): JsonObject {
  return {
    id: toolCallId,
    type: 'function',
    function: { name: tool, arguments: JSON.stringify(input) },
  };
}

function sourceName({ source }: TranscriptMessage, names: WrittenNames): string {
  if (source?.kind === 'system') return 'system';
  const agentId = source?.kind === 'agent' ? source.agentId : undefined;
  return agentId === undefined ? 'external' : names.agentId(agentId);
}
