import type { EventLinks, NewEvent } from '@hansard/events';
import { newEvent } from '@hansard/events/plain';
import type { MessageFields, TranscriptMessage } from './transcript-message.ts';
import { unknownTool } from './unknown-tool.ts';

/**
 * A message as events, one for each block: thinking, text, then the tool calls. All have its id as `messageId`; what
 * links it to others stands on the first. An answer without anything in it is an `agent:output` without parts.
 * `putTogether` gives the same message again.
 *
 * @throws TypeError for what no transcript has: a tool message that answers no call, a system or user message without
 * content, thinking or tool calls of somebody else than the assistant
 */
export function takeApart(message: TranscriptMessage, fields: MessageFields): NewEvent[] {
  const { id, agentId, timestamp, substance, cause, via } = fields;
  const whose = { ...(timestamp === undefined ? {} : { timestamp }), ...(agentId === '' ? {} : { agentId }) };
  const links: EventLinks = {
    ...(substance === undefined ? {} : { substance }),
    ...(cause === undefined ? {} : { cause }),
    ...(via === undefined ? {} : { via }),
  };
  return blocksOf(message).map(({ type, data }, index) => ({
    id: index === 0 ? id : `${id}.${index}`,
    type,
    ...whose,
    messageId: id,
    ...(index === 0 ? links : {}),
    data,
  }));
}

function blocksOf(message: TranscriptMessage): NewEvent[] {
  if (message.role === 'assistant') return assistantBlocks(message);
  if (message.thinking !== undefined || message.toolCalls !== undefined) {
    throw new TypeError(
      `A ${message.role} message has no thinking and no tool calls; an assistant message has.`,
    );
  }
  if (message.role === 'tool') return [toolResult(message)];
  const { content: text } = message;
  if (text === null) throw new TypeError(`A ${message.role} message has content; this one has none.`);
  return message.role === 'system'
    ? [newEvent('agent:system_prompt', { text })]
    : [newEvent('user:message', { text, source: message.source ?? { kind: 'user' } })];
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
    throw new TypeError('A tool message names the call that it answers; this one has no toolCallId.');
  }
  return newEvent('agent:tool_result', {
    toolCallId,
    ...(tool === undefined ? unknownTool : { tool, metadata: {} }),
    status: isError === true ? 'error' : 'completed',
    output: content,
  });
}
