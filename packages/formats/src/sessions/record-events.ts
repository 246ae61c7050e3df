import {
  type CapturedEvent,
  definedOnly,
  type EventData,
  isPlainObject,
  type JsonObject,
  type JsonValue,
} from '@hansard/events';
import {
  givenEvent,
  type MessageFields,
  type TranscriptMessage,
  type TranscriptToolCall,
  takeApart,
} from '@hansard/prompt';
import { idText, parseJson, references } from '../lines/parse-lines.ts';
import { unknownTypePrefix } from './session-dialect.ts';
import {
  callKey,
  givenKey,
  linksOf,
  type SeenCall,
  type SessionEntry,
  type SessionReading,
} from './session-reading.ts';

/** The text by which both dialects report to an agent that a hook denied its call. */
const denial = /^Error: Action blocked by hook '([^']+)': (.*)$/s;

/**
 * The decision that a tool result reports, if any. Its causes are the call, and the verdict: what the agent with the name
 * of the hook said between call and result. It has no verdict if several agents have the name or several things were said.
 */
function hookDenial(
  { names, agentsByName, utterances }: SessionReading,
  { id, agentId }: SessionEntry,
  text: string,
  call: SeenCall | undefined,
): CapturedEvent | null {
  const [, hook, reason] = denial.exec(text) ?? [];
  if (hook === undefined || reason === undefined) return null;
  const [hookAgent, ...namesakes] = agentsByName.get(hook) ?? [];
  const ofHook = hookAgent === undefined || namesakes.length > 0 ? [] : (utterances.get(hookAgent) ?? []);
  const [earlier, last] = [ofHook.at(-2), ofHook.at(-1)];
  const isSinceCall = (utterance: typeof last) => call !== undefined && (utterance?.line ?? 0) > call.line;
  const verdict = isSinceCall(last) && !isSinceCall(earlier) ? last : undefined;
  return {
    id: names.newId(`${id}:hook`),
    type: 'harness:hook_decision',
    timestamp: null,
    ...definedOnly({ agentId }),
    ...(call === undefined
      ? {}
      : { cause: verdict === undefined ? call.eventId : [call.eventId, verdict.id] }),
    data: {
      hook,
      on: 'tool_call',
      decision: 'deny',
      reason,
      ...definedOnly({ toolCallId: call?.toolCallId, subject: call?.eventId }),
      // It has no record of its own.
      record: null,
    },
  };
}

/** The text of a message: the text itself, the texts of its parts, or any other content as JSON. */
function contentText(content: JsonValue | undefined): string | null {
  if (content === undefined || content === null) return null;
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return JSON.stringify(content);
  return content.map((part) => (isTextPart(part) ? part.text : JSON.stringify(part))).join('\n');
}

/** The answer of a model in a transcript. */
function answerOf(record: JsonObject, id: string): TranscriptMessage {
  const calls = Array.isArray(record.tool_calls) ? record.tool_calls : [];
  const content = contentText(record.content);
  if (calls.length === 0) return { role: 'assistant', content };
  return {
    role: 'assistant',
    content,
    toolCalls: calls.map((call, index) => toolCallOf(call, `${id}:call-${index}`)),
  };
}

/** Whether a value is a tool call in the form of the dialects. */
function isToolCall(value: JsonValue): boolean {
  if (!isPlainObject(value) || !isText(value.id) || !isPlainObject(value.function)) return false;
  return isText(value.function.name) && typeof value.function.arguments === 'string';
}

/** Non-empty text, or the fallback. */
function textOr(value: unknown, fallback: string): string {
  return isText(value) ? value : fallback;
}

function toolCallOf(value: JsonValue, ownId: string): TranscriptToolCall {
  const call = isPlainObject(value) ? value : {};
  const { name, arguments: raw = null } = (isPlainObject(call.function) ? call.function : {}) as JsonObject;
  return { toolCallId: textOr(call.id, ownId), tool: textOr(name, '?'), input: inputOf(raw) };
}

/** The parsed arguments; the text itself if it is not JSON. */
function inputOf(raw: JsonValue): JsonValue {
  const parsed = typeof raw === 'string' ? parseJson(raw) : undefined;
  return parsed === undefined ? raw : (parsed.value as JsonValue);
}

function isTextPart(part: JsonValue): part is { text: string } {
  return isPlainObject(part) && part.type === 'text' && typeof part.text === 'string';
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

interface UnwrittenPiece {
  readonly id: string;
  /** The piece itself, the first time; null if an earlier message has it. */
  readonly event: CapturedEvent | null;
}

/**
 * The text that a call delivered to the receiver of a message, in a dialect without pieces of text. Messages share it if
 * they name the same call as their cause and have the same text: the call links them, and their text only distinguishes the
 * texts of one call. A message that names several calls does not say which one made its text, so it has no piece. Null for any other message.
 */
function unwrittenPiece(
  { dialect, names, pieces }: SessionReading,
  { id, record }: SessionEntry,
  { source, content }: TranscriptMessage,
): UnwrittenPiece | null {
  if (dialect.kinds.includes('piece_of_text') || references(record[dialect.substanceKey]).length > 0)
    return null;
  const [reference, ...others] = references(record[dialect.causeKey]);
  const call = reference === undefined ? undefined : names.definitionOf(reference)?.record;
  const isOneCall =
    call?.role === 'assistant' && Array.isArray(call.tool_calls) && call.tool_calls.length === 1;
  const caller = names.agentId(call?.agent_id);
  const isTheirs = source?.kind === 'agent' && source.agentId === caller;
  if (reference === undefined || others.length > 0 || !isOneCall || !isTheirs || content === null)
    return null;
  const key = JSON.stringify([reference, content]);
  const known = pieces.get(key);
  if (known !== undefined) return { id: known, event: null };
  const event: CapturedEvent = {
    id: names.newId(`${id}:text`),
    type: 'agent:piece_of_text',
    timestamp: null,
    ...(caller === undefined ? {} : { agentId: caller }),
    cause: names.refer(reference),
    // It has no record of its own.
    data: { text: content, record: null },
  };
  pieces.set(key, event.id);
  return { id: event.id, event };
}

/**
 * The events of one record: first those without a record of their own (a decision of a hook, the text of a call), then
 * the event with the id of the record, then the others.
 */
export function recordEvents(reading: SessionReading, entry: SessionEntry): CapturedEvent[] {
  const events = eventsOf(reading, entry);
  const last = events.at(-1);
  if (entry.kind === 'transcript_entry' && last !== undefined && canTruncate(reading))
    transcriptOf(reading, entry).push(last.id);
  return events;
}

function canTruncate({ dialect }: SessionReading): boolean {
  return dialect.kinds.includes('transcript_edit');
}

function transcriptOf({ transcripts }: SessionReading, { agentId = '' }: SessionEntry): string[] {
  const transcript = transcripts.get(agentId) ?? [];
  transcripts.set(agentId, transcript);
  return transcript;
}

/** `n` counts from the end if it is negative, as in Python. */
function rewindOf(reading: SessionReading, entry: SessionEntry): CapturedEvent {
  const transcript = transcriptOf(reading, entry);
  const n = Number(entry.record.n);
  transcript.splice(n < 0 ? Math.max(0, transcript.length + n) : n);
  return single(reading, entry, 'session:rewind', { keptThrough: transcript.at(-1) ?? null });
}

function eventsOf(reading: SessionReading, entry: SessionEntry): CapturedEvent[] {
  switch (entry.kind) {
    case 'agent_created':
      return [agentCreated(reading, entry)];
    case 'transcript_edit':
      return [rewindOf(reading, entry)];
    case 'piece_of_text':
      if (reading.dialect.id === 'smallchat' && entry.agentId === undefined)
        return [single(reading, entry, 'smallchat:fragment', entry.original)];
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
  if (record[givenKey] === true) return givenEvents(reading, entry);
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

/** An entry that its agent began with. It has no links, so nobody said it to the agent. */
function givenEvents(reading: SessionReading, entry: SessionEntry): CapturedEvent[] {
  const { record, id, agentId = '' } = entry;
  const { role } = record;
  const content = contentText(record.content);
  const event = givenEvent(
    role === 'assistant'
      ? answerOf(record, id)
      : role === 'tool'
        ? {
            role,
            content,
            toolCallId: textOr(record.tool_call_id, `${id}:call`),
            ...(typeof record.name === 'string' ? { tool: record.name } : {}),
            ...(content?.startsWith('Error:') === true ? { isError: true } : {}),
          }
        : role === 'system'
          ? { role, content: content ?? '' }
          : { role: 'user', content: content ?? '', source: sourceOf(reading, entry) },
    { id, agentId },
  );
  return [{ ...event, id, timestamp: null, data: event.data }];
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
  const isError =
    reading.dialect.id === 'smallchat'
      ? record.is_error === true
      : !isSaid && content?.startsWith('Error:') === true;
  const decision =
    isError && content !== null && reading.dialect.id !== 'smallchat'
      ? hookDenial(reading, entry, content, call)
      : null;
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
  // In smallchat a cause names its call, also of a message with one.
  if (seen.length > (reading.dialect.id === 'smallchat' ? 0 : 1)) reading.severalCalls.set(id, seen);
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
    ...(reading.dialect.id === 'smallchat' ? placeOf(reading, entry) : {}),
  };
  if (typeof name === 'string') {
    const bearers = reading.agentsByName.get(name) ?? [];
    reading.agentsByName.set(name, new Set([...bearers, entry.agentId ?? '']));
  }
  return single(reading, entry, 'agent:created', data);
}

/** Whether an agent of smallchat is a hook, or stands beside the root. */
function placeOf(
  { agentsByName }: SessionReading,
  { record, original }: SessionEntry,
): Pick<EventData<'agent:created'>, 'hook' | 'peer'> {
  const { role, name } = original;
  if (role === 'hook') return { hook: textOr(name, 'hook') };
  return record.cause === undefined && agentsByName.size > 0 ? { peer: true } : {};
}

function take(
  reading: SessionReading,
  { id, agentId = '', record }: SessionEntry,
  message: TranscriptMessage,
  more: Pick<MessageFields, 'substance' | 'via'> = {},
): CapturedEvent[] {
  // An event has either substance or cause. If it carries the text of a call, the text has the cause.
  const links = more.substance === undefined ? linksOf(reading, { record }) : {};
  const fields: MessageFields = { id, agentId, timestamp: null, ...links, ...more };
  return takeApart(message, fields).map((event, index) => ({
    ...event,
    id: index === 0 ? id : reading.names.newId(event.id ?? id),
    timestamp: null,
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
    timestamp: null,
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
  if (dialect.id === 'smallchat') return smallchatSource(names, record);
  const source = idText(record.source);
  if (source === 'external' || source === 'system') return { kind: source };
  const named = dialect.sourceKey === null ? undefined : source;
  const [origin] = [...references(record[dialect.substanceKey]), ...references(record[dialect.causeKey])];
  if (named === undefined && origin === undefined) return { kind: 'external' };
  const agentId = names.agentId(named ?? names.definitionOf(origin ?? '')?.record.agent_id);
  return { kind: 'agent', ...definedOnly({ agentId }) };
}

/** The author of the fragment or the answer that a message of smallchat carries. Its engine writes the messages that carry nothing. */
function smallchatSource(
  names: SessionReading['names'],
  record: JsonObject,
): EventData<'user:message'>['source'] {
  const [carried] = references(record.substance);
  if (carried === undefined) return { kind: 'system' };
  const author = names.definitionOf(carried)?.record;
  if (author?.event_type === 'piece_of_text' && author.agent_id === undefined) return { kind: 'user' };
  return { kind: 'agent', ...definedOnly({ agentId: names.agentId(author?.agent_id) }) };
}

function unknownType({ dialect }: SessionReading, record: JsonObject): CapturedEvent['type'] {
  const action = textOr(record.event_type ?? record.role, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^[^a-z]+/, '');
  return `${unknownTypePrefix(dialect)}${action === '' ? 'record' : action}`;
}
