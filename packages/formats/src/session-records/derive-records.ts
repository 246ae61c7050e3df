import { type CapturedEvent, definedOnly, type JsonObject } from '@hansard/events';
import {
  putTogether,
  type TranscriptEntry,
  type TranscriptMessage,
  type TranscriptToolCall,
} from '@hansard/views';
import { createLinkWriter, type WriteLinks } from './link-writer.ts';
import { type SessionDialect, unknownTypePrefix } from './session-dialect.ts';

/** A record derived from its events alone, without fields that only the original record has. */
export interface DerivedRecord {
  readonly record: JsonObject;
  /** The events of its content. The first one gives it its id. */
  readonly events: readonly [CapturedEvent, ...CapturedEvent[]];
}

/** The agent of events without an agent id. */
const dispatchedAgent = 'agent_root';

/**
 * The records of events, in the order of their first events.
 * @throws EVENT_INVALID for a part of a transcript whose data has a shape that this version does not know
 */
export function deriveRecords(dialect: SessionDialect, events: readonly CapturedEvent[]): DerivedRecord[] {
  const entries = new Map(putTogether(events).map((entry) => [entry.events[0], entry]));
  const units = events.flatMap((event) => unitOf(dialect, event, entries.get(event)));
  const linksOf = createLinkWriter(
    dialect,
    events,
    units.map(({ blocks }) => blocks),
  );
  return units.map(({ entry, blocks }) => ({
    events: blocks,
    record:
      entry === undefined
        ? ownRecord(blocks[0], linksOf)
        : entryRecord(dialect, blocks[0].id, entry, linksOf),
  }));
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

function ownRecord(event: CapturedEvent, linksOf: WriteLinks): JsonObject {
  const { id, type, data, agentId = dispatchedAgent } = event;
  if (type === 'agent:created') {
    return {
      message_id: id,
      event_type: 'agent_created',
      agent_id: agentId,
      ...linksOf(event),
      ...definedOnly({ name: data.name, language_model: data.languageModel }),
    };
  }
  if (type !== 'agent:piece_of_text') return data;
  return {
    message_id: id,
    event_type: 'piece_of_text',
    agent_id: agentId,
    content: data.text,
    ...linksOf(event),
  };
}

function entryRecord(
  dialect: SessionDialect,
  id: string,
  entry: TranscriptEntry,
  linksOf: WriteLinks,
): JsonObject {
  const { message, agentId } = entry;
  const { role, content, toolCalls, toolCallId, tool } = message;
  const sourceKey = role === 'user' ? dialect.sourceKey : null;
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
    ...(sourceKey === null ? {} : { [sourceKey]: sourceName(message) }),
    ...linksOf(entry),
  };
}

function callRecord({ toolCallId, tool, input }: TranscriptToolCall): JsonObject {
  return {
    id: toolCallId,
    type: 'function',
    function: { name: tool, arguments: JSON.stringify(input) },
  };
}

function sourceName({ source }: TranscriptMessage): string {
  if (source?.kind === 'system') return 'system';
  return (source?.kind === 'agent' ? source.agentId : undefined) ?? 'external';
}
