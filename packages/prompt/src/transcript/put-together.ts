import type { CapturedEvent, EventData, EventLinks, NewEvent } from '@hansard/events';
import { newEvent } from '@hansard/events/plain';
import { createTranscriptGatherer } from './gather-transcripts.ts';
import type { MessageFields, TranscriptEntry, TranscriptMessage } from './transcript-message.ts';
import { unknownTool } from './unknown-tool.ts';

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
