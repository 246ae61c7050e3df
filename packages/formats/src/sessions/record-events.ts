import { type CapturedEvent, definedOnly, type EventData, type JsonObject } from '@hansard/events';
import { type MessageFields, type TranscriptMessage, takeApart } from '@hansard/prompt';
import { hookDenial } from './hook-denial.ts';
import { idText, references } from './id-text.ts';
import { linksOf } from './record-links.ts';
import { answerOf, contentText, isToolCall, textOr } from './record-message.ts';
import { unknownTypePrefix } from './session-dialect.ts';
import { callKey, type SeenCall, type SessionEntry, type SessionReading } from './session-reading.ts';
import { unwrittenPiece } from './unwritten-pieces.ts';

/**
 * The events of one record: first those without a record of their own (a decision of a hook, the text of a call), then
 * the event with the id of the record, then the others.
 */
export function recordEvents(reading: SessionReading, entry: SessionEntry): CapturedEvent[] {
  switch (entry.kind) {
    case 'agent_created':
      return [agentCreated(reading, entry)];
    case 'piece_of_text':
      return [
        single(reading, entry, 'agent:piece_of_text', { text: contentText(entry.record.content) ?? '' }),
      ];
    case 'transcript_entry':
      return transcriptEvents(reading, entry);
    case null:
      return [single(reading, entry, unknownType(reading, entry.record), entry.record)];
  }
}

function transcriptEvents(reading: SessionReading, entry: SessionEntry): CapturedEvent[] {
  const { record } = entry;
  switch (record.role) {
    case 'system':
      return take(reading, entry, { role: 'system', content: contentText(record.content) ?? '' });
    case 'user':
      return messageEvents(reading, entry);
    case 'tool':
      return toolEvents(reading, entry);
    default:
      return answerEvents(reading, entry);
  }
}

function messageEvents(reading: SessionReading, entry: SessionEntry): CapturedEvent[] {
  const content = contentText(entry.record.content) ?? '';
  const message: TranscriptMessage = { role: 'user', content, source: sourceOf(reading, entry) };
  const piece = unwrittenPiece(reading, entry, message);
  if (piece === null) return take(reading, entry, message);
  const events = take(reading, entry, message, { substance: piece.id });
  return piece.event === null ? events : [piece.event, ...events];
}

function toolEvents(reading: SessionReading, entry: SessionEntry): CapturedEvent[] {
  const { record, agentId, line } = entry;
  const content = contentText(record.content);
  const toolCallId = textOr(record.tool_call_id, `${entry.id}:call`);
  const call = reading.calls.get(callKey(agentId, toolCallId));
  if (call === undefined) {
    reading.report(
      line.line,
      'call_missing',
      `There is no call with the id ${toolCallId} before this result.`,
    );
  }
  const tool = textOr(record.name, call?.tool ?? '');
  // An utterance is never a failure, whatever its first words are.
  const isSaid = references(record[reading.dialect.substanceKey]).length > 0;
  const isError = !isSaid && content?.startsWith('Error:') === true;
  const decision = isError ? hookDenial(reading, entry, content, call) : null;
  const message: TranscriptMessage = {
    role: 'tool',
    content,
    toolCallId,
    ...(tool === '' ? {} : { tool }),
    ...(isError ? { isError } : {}),
  };
  if (decision === null) return take(reading, entry, message);
  return [decision, ...take(reading, entry, message, { via: decision.id })];
}

function answerEvents(reading: SessionReading, entry: SessionEntry): CapturedEvent[] {
  const { record, id, agentId, line } = entry;
  const { tool_calls: calls = [] } = record;
  if (calls !== null && !(Array.isArray(calls) && calls.every(isToolCall))) {
    const message = 'tool_calls is not a list of calls with id, function.name and function.arguments.';
    reading.report(line.line, 'wrong_value', message);
  }
  const message = answerOf(record, id);
  const events = take(reading, entry, message);
  const callEvents = events.filter(({ type }) => type === 'agent:tool_call');
  const seen = (message.toolCalls ?? []).map(
    ({ toolCallId, tool }, index): SeenCall => ({
      eventId: callEvents[index]?.id ?? id,
      toolCallId,
      tool,
      line: line.line,
    }),
  );
  for (const call of seen) reading.calls.set(callKey(agentId, call.toolCallId), call);
  if (seen.length > 1) reading.severalCalls.set(id, seen);
  if (message.content !== null && seen.length === 0) {
    const ofAgent = reading.utterances.get(agentId ?? '');
    if (ofAgent === undefined) reading.utterances.set(agentId ?? '', [{ id, line: line.line }]);
    else ofAgent.push({ id, line: line.line });
  }
  return events;
}

function agentCreated(reading: SessionReading, entry: SessionEntry): CapturedEvent {
  const { name, language_model: languageModel } = entry.record;
  const data: EventData<'agent:created'> = {
    ...(typeof name === 'string' ? { name } : {}),
    ...(typeof languageModel === 'string' ? { languageModel } : {}),
  };
  if (typeof name === 'string') {
    const bearers = reading.agentsByName.get(name) ?? [];
    reading.agentsByName.set(name, new Set([...bearers, entry.agentId ?? '']));
  }
  return single(reading, entry, 'agent:created', data);
}

function take(
  reading: SessionReading,
  { id, agentId = '', record }: SessionEntry,
  message: TranscriptMessage,
  more: Pick<MessageFields, 'substance' | 'via'> = {},
): CapturedEvent[] {
  const { timestamp } = reading;
  // An event has either substance or cause. If it carries the text of a call, the text has the cause.
  const links = more.substance === undefined ? linksOf(reading, { record }) : {};
  const fields: MessageFields = { id, agentId, timestamp, ...links, ...more };
  return takeApart(message, fields).map((event, index) => ({
    ...event,
    id: index === 0 ? id : reading.names.newId(event.id ?? id),
    timestamp,
  }));
}

function single(
  reading: SessionReading,
  { id, agentId, record }: SessionEntry,
  type: CapturedEvent['type'],
  data: JsonObject,
): CapturedEvent {
  return {
    id,
    type,
    timestamp: reading.timestamp,
    ...definedOnly({ agentId }),
    ...linksOf(reading, { record }),
    data,
  };
}

/**
 * The sender of a user message: the one that it names, else the agent whose words it carries or whose call caused it, else the
 * outside world, which may be a person: the log does not say.
 */
function sourceOf(
  { dialect, names }: SessionReading,
  { record }: SessionEntry,
): EventData<'user:message'>['source'] {
  const source = idText(record.source);
  if (source === 'external' || source === 'system') return { kind: source };
  const named = dialect.sourceKey === null ? undefined : source;
  const [origin] = [...references(record[dialect.substanceKey]), ...references(record[dialect.causeKey])];
  if (named === undefined && origin === undefined) return { kind: 'external' };
  const agentId = names.agentId(named ?? names.definitionOf(origin ?? '')?.record.agent_id);
  return { kind: 'agent', ...definedOnly({ agentId }) };
}

function unknownType({ dialect }: SessionReading, record: JsonObject): CapturedEvent['type'] {
  const action = textOr(record.event_type ?? record.role, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^[^a-z]+/, '');
  return `${unknownTypePrefix(dialect)}${action === '' ? 'record' : action}`;
}
