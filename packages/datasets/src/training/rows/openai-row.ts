import type { JsonObject } from '@hansard/events';
import type { Conversation, TrainingMessage } from '../conversation.ts';
import { argumentsOf, type RowOptions, textWithThoughts, toolsField } from './row-options.ts';

/**
 * OpenAI's chat format for fine-tuning. Arguments are a JSON string; an answer that another row trains has the weight 0;
 * there are no other keys.
 */
export function openaiRow({ messages }: Conversation, options: RowOptions): JsonObject {
  return { messages: messages.map((message) => openaiMessage(message, options)), ...toolsField(options) };
}

function openaiMessage(
  { message, thinking, isTrained }: TrainingMessage,
  { reasoning }: RowOptions,
): JsonObject {
  if (message.role === 'tool')
    return { role: 'tool', tool_call_id: message.toolCallId, content: message.text };
  if (message.role !== 'assistant') return { role: message.role, content: message.text };
  const content = textWithThoughts(message.text, thinking, reasoning);
  const calls = message.toolCalls.map(({ toolCallId, tool, input }) => ({
    id: toolCallId,
    type: 'function',
    function: { name: tool, arguments: JSON.stringify(argumentsOf(input)) },
  }));
  return {
    role: 'assistant',
    ...(content === '' && calls.length > 0 ? {} : { content }),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
    ...(isTrained ? {} : { weight: 0 }),
  };
}
