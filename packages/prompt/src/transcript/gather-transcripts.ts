import type {
  CapturedEvent,
  EventData,
  EventLinks,
  JsonValue,
  KnownEventType,
  NewEvent,
} from '@hansard/events';
import { eventErrors, isReadableAs, newEvent } from '@hansard/events/plain';
import {
  isToolUnknown,
  type MessageFields,
  type TranscriptEntry,
  type TranscriptMessage,
  type TranscriptToolCall,
  unknownTool,
} from './transcript-message.ts';

/** An entry while events are added to it. */
interface OpenEntry extends TranscriptEntry {
  readonly events: CapturedEvent[];
}

/** An assistant message while its blocks are added. */
interface Answer {
  readonly number: number;
  readonly entry: OpenEntry;
  readonly message: {
    role: 'assistant';
    content: string | null;
    thinking?: { text: string; signature?: string };
    toolCalls?: TranscriptToolCall[];
  };
}

/** Joins events to the messages of transcripts, one event at a time. */
interface TranscriptGatherer {
  /** The messages so far, of all agents in the order of their first blocks. */
  readonly entries: TranscriptEntry[];
  /**
   * Adds an event and returns the index in `entries` of the message that it is a block of, or null if it is not part of a
   * transcript.
   *
   * @throws EVENT_INVALID for a part of a transcript whose data has a shape that this version does not know
   */
  add(event: CapturedEvent): number | null;
}

export function createTranscriptGatherer(): TranscriptGatherer {
  const entries: TranscriptEntry[] = [];
  const answers = new Map<string, Map<string, Answer>>();

  function answerOf(event: CapturedEvent): Answer {
    const { id, messageId = id, agentId = '' } = event;
    let ofAgent = answers.get(agentId);
    if (ofAgent === undefined) {
      ofAgent = new Map();
      answers.set(agentId, ofAgent);
    }
    const known = ofAgent.get(messageId);
    if (known !== undefined) return known;
    const message: Answer['message'] = { role: 'assistant', content: null };
    const entry = newEntry(event, message);
    const answer: Answer = { number: entries.push(entry) - 1, message, entry };
    ofAgent.set(messageId, answer);
    return answer;
  }

  return {
    entries,
    add(event) {
      if (event.type === 'agent:rejected') {
        const both = rejectedMessages(event).map((entry) => ({ ...entry, events: [event] }));
        return entries.push(...both) - 1;
      }
      const received = event.type === 'agent:given' ? givenMessage(event) : receivedMessage(event);
      if (received !== null) {
        const entry = newEntry(event, received);
        entry.events.push(event);
        return entries.push(entry) - 1;
      }
      const block = answerBlock(event);
      if (block === null) return null;
      const { message, entry, number } = answerOf(event);
      block(message);
      entry.events.push(event);
      return number;
    },
  };
}

/** Builds the entry field by field: there is one for each message of a log, and spreading optional fields costs several times as much. */
function newEntry(event: CapturedEvent, message: TranscriptMessage): OpenEntry {
  const { id, messageId = id, agentId = '', substance, cause, via } = event;
  const entry: { -readonly [Key in keyof OpenEntry]?: OpenEntry[Key] } = { messageId, agentId };
  if (substance !== undefined) entry.substance = substance;
  if (cause !== undefined) entry.cause = typeof cause === 'string' ? [cause] : cause;
  if (via !== undefined) entry.via = via;
  entry.message = message;
  entry.events = [];
  return entry as OpenEntry;
}

/** An answer that nobody received, and why: what its author reads of it. */
function rejectedMessages(event: CapturedEvent): readonly [TranscriptEntry, TranscriptEntry] {
  const { text, reason, hook, retry } = dataOf(event, 'agent:rejected');
  const { messageId, ...entry } = newEntry(event, { role: 'assistant', content: text });
  const who = hook === undefined ? '' : ` by the hook '${hook}'`;
  const content = `Your answer was rejected${who}, and nobody received it: ${reason}${retry ? '\nAnswer again.' : ''}`;
  const source = { kind: 'system', ...(hook === undefined ? {} : { hook }) } as const;
  return [
    { messageId, ...entry },
    { messageId: event.id, agentId: entry.agentId, events: [], message: { role: 'user', content, source } },
  ];
}

function receivedMessage(event: CapturedEvent): TranscriptMessage | null {
  switch (event.type) {
    case 'agent:system_prompt':
      return { role: 'system', content: dataOf(event, event.type).text };
    case 'user:message': {
      const { text, wrapped = text, source, parts } = dataOf(event, event.type);
      const isDefault = source.kind === 'user' && Object.keys(source).length === 1;
      return {
        role: 'user',
        content: wrapped,
        ...(wrapped === text ? {} : { said: text }),
        ...(isDefault ? {} : { source }),
        ...(parts === undefined ? {} : { parts }),
      };
    }
    case 'agent:tool_result': {
      const data = dataOf(event, event.type);
      return {
        role: 'tool',
        content: contentOf(data),
        toolCallId: data.toolCallId,
        ...(isToolUnknown(data) ? {} : { tool: data.tool }),
        ...(data.status === 'error' ? { isError: true } : {}),
      };
    }
    default:
      return null;
  }
}

/** A message of the transcript with which an agent began. It is whole. */
function givenMessage(event: CapturedEvent): TranscriptMessage {
  const data = dataOf(event, 'agent:given');
  const { role, text = null, thinking, toolCalls, toolCallId, tool, isError, source, parts } = data;
  return {
    role,
    content: role === 'tool' ? contentOf({ output: data.output }) : text,
    ...(thinking === undefined
      ? {}
      : {
          thinking: {
            text: thinking.text,
            ...(thinking.signature === undefined ? {} : { signature: thinking.signature }),
          },
        }),
    ...(toolCalls === undefined
      ? {}
      : {
          toolCalls: toolCalls.map((call) => ({
            toolCallId: call.toolCallId,
            tool: call.tool,
            input: call.input ?? null,
          })),
        }),
    ...(toolCallId === undefined ? {} : { toolCallId }),
    ...(tool === undefined ? {} : { tool }),
    ...(isError === true ? { isError } : {}),
    ...(source === undefined ? {} : { source }),
    ...(parts === undefined ? {} : { parts }),
  };
}

/** A function that adds a block to its answer, or null: not a block of an answer. */
function answerBlock(event: CapturedEvent): ((answer: Answer['message']) => void) | null {
  switch (event.type) {
    case 'agent:thinking': {
      const { text, signature } = dataOf(event, event.type);
      return (answer) => {
        answer.thinking = {
          ...answer.thinking,
          text: (answer.thinking?.text ?? '') + text,
          ...(signature === undefined ? {} : { signature }),
        };
      };
    }
    case 'agent:text': {
      const { text } = dataOf(event, event.type);
      return (answer) => {
        answer.content = (answer.content ?? '') + text;
      };
    }
    case 'agent:tool_call': {
      const { toolCallId, tool, input = null } = dataOf(event, event.type);
      return (answer) => {
        answer.toolCalls ??= [];
        answer.toolCalls.push({ toolCallId, tool, input });
      };
    }
    case 'agent:output': {
      const isEmptyAnswer = event.messageId !== undefined && dataOf(event, event.type).parts.length === 0;
      return isEmptyAnswer ? () => {} : null;
    }
    default:
      return null;
  }
}

/** An output that is not a string is returned as JSON; a log of fidelity `narrative` has at most the error. */
function contentOf({ output, error }: { output?: JsonValue | undefined; error?: string | undefined }) {
  if (output === undefined) return error ?? null;
  return typeof output === 'string' || output === null ? output : JSON.stringify(output);
}

function dataOf<T extends KnownEventType>(event: CapturedEvent, type: T): EventData<T> {
  if (isReadableAs(event, type)) return event.data;
  throw eventErrors.error(
    'EVENT_INVALID',
    `${type} ${event.id} is part of a transcript, but its data has a shape that this version does not know. Read the log with the version that wrote it.`,
  );
}

/**
 * The transcript messages of all agents, in the order of their first blocks. Blocks of an answer are joined by agent and
 * message id, whatever events are between them. Each other part of a transcript is a message of its own. Events that are
 * not part of a transcript are ignored.
 *
 * @throws EVENT_INVALID for a part of a transcript whose data has a shape that this version does not know
 */
export function putTogether(events: Iterable<CapturedEvent>): TranscriptEntry[] {
  const transcripts = createTranscriptGatherer();
  for (const event of events) transcripts.add(event);
  return transcripts.entries;
}

/**
 * The events of a message, one for each block: thinking, text, then the tool calls. All have its id as `messageId`; the first
 * has its links. An empty answer is an `agent:output` without parts. `putTogether` returns the same message again.
 *
 * @throws TypeError for an invalid message: a tool message without `toolCallId`, a system or user message without content,
 * or thinking or tool calls in a message that is not of the assistant
 */
export function takeApart(message: TranscriptMessage, fields: MessageFields): NewEvent[] {
  const { id, agentId, timestamp, substance, cause, via } = fields;
  const origin = {
    ...(timestamp === undefined ? {} : { timestamp }),
    ...(agentId === '' ? {} : { agentId }),
  };
  const links: EventLinks = {
    ...(substance === undefined ? {} : { substance }),
    ...(cause === undefined ? {} : { cause }),
    ...(via === undefined ? {} : { via }),
  };
  return blocksOf(message).map(({ type, data }, index) => ({
    id: index === 0 ? id : `${id}.${index}`,
    type,
    ...origin,
    messageId: id,
    ...(index === 0 ? links : {}),
    data,
  }));
}

/** The event of a message with which an agent begins: see `agent:given`. `putTogether` returns the same message again. */
export function givenEvent(
  message: TranscriptMessage,
  { id, agentId }: Pick<MessageFields, 'id' | 'agentId'>,
): NewEvent {
  const { role, content, toolCalls, parts, ...rest } = message;
  const said = content === null ? {} : { text: content };
  const data = {
    role,
    ...(role === 'tool' ? { output: content } : said),
    ...(toolCalls === undefined ? {} : { toolCalls: toolCalls.map((call) => ({ ...call })) }),
    ...(parts === undefined ? {} : { parts: [...parts] }),
    ...rest,
  };
  return newEvent('agent:given', data, { id, agentId, messageId: id });
}

function blocksOf(message: TranscriptMessage): NewEvent[] {
  if (message.role === 'assistant') return assistantBlocks(message);
  if (message.thinking !== undefined || message.toolCalls !== undefined) {
    throw new TypeError(
      `A ${message.role} message can't have thinking or tool calls; only an assistant message can.`,
    );
  }
  if (message.role === 'tool') return [toolResult(message)];
  const { content: text } = message;
  if (text === null) throw new TypeError(`A ${message.role} message must have content; this one has none.`);
  if (message.role === 'system') return [newEvent('agent:system_prompt', { text })];
  const { said, source = { kind: 'user' } } = message;
  const words = said === undefined ? { text } : { text: said, wrapped: text };
  return [newEvent('user:message', { ...words, source, ...partsOf(message) })];
}

function partsOf({ parts }: TranscriptMessage): Pick<EventData<'user:message'>, 'parts'> {
  return parts === undefined ? {} : { parts: [...parts] };
}

function assistantBlocks({ content, thinking, toolCalls = [] }: TranscriptMessage): NewEvent[] {
  const blocks: NewEvent[] = [];
  if (thinking !== undefined) blocks.push(newEvent('agent:thinking', thinking));
  if (content !== null) blocks.push(newEvent('agent:text', { text: content }));
  for (const call of toolCalls) blocks.push(newEvent('agent:tool_call', { ...call, metadata: {} }));
  return blocks.length > 0 ? blocks : [newEvent('agent:output', { parts: [] })];
}

function toolResult({ content, toolCallId, tool, isError }: TranscriptMessage): NewEvent {
  if (toolCallId === undefined) {
    throw new TypeError('A tool message must name the call that it answers; this one has no toolCallId.');
  }
  return newEvent('agent:tool_result', {
    toolCallId,
    ...(tool === undefined ? unknownTool : { tool, metadata: {} }),
    status: isError === true ? 'error' : 'completed',
    output: content,
  });
}
