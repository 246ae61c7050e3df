import type { JsonObject } from '@hansard/events';
import type { Conversation, TrainingMessage } from '../conversation.ts';
import { argumentsOf, type RowOptions, textWithThoughts, thoughtsField, toolsField } from './row-options.ts';

/** TRL, prompt and completion, conversational: the loss is on the completion, the last answer. */
export function trlPromptCompletionRow(conversation: Conversation, options: RowOptions): JsonObject {
  const messages = conversation.messages.map((message) => trlMessage(message, options));
  return {
    prompt: messages.slice(0, -1),
    completion: messages.slice(-1),
    ...toolsField(options),
    metadata: metadataOf(conversation),
  };
}

/** TRL, language modelling, conversational: for `assistant_only_loss`. */
export function trlChatRow(conversation: Conversation, options: RowOptions): JsonObject {
  return {
    messages: conversation.messages.map((message) => trlMessage(message, options)),
    ...toolsField(options),
    metadata: metadataOf(conversation),
  };
}

/** Arguments are JSON text, because Arrow needs one type for a column. Templates find a result by the name of its tool. */
function trlMessage({ message, thinking }: TrainingMessage, { reasoning }: RowOptions): JsonObject {
  if (message.role === 'tool') return { role: 'tool', name: message.tool, content: message.text };
  if (message.role !== 'assistant') return { role: message.role, content: message.text };
  const { text, toolCalls } = message;
  return {
    role: 'assistant',
    content: textWithThoughts(text, thinking, reasoning),
    ...thoughtsField(thinking, reasoning),
    ...(toolCalls.length === 0
      ? {}
      : {
          tool_calls: toolCalls.map(({ tool, input }) => ({
            type: 'function',
            function: { name: tool, arguments: JSON.stringify(argumentsOf(input)) },
          })),
        }),
  };
}

/** Flat, with the same keys in each row, because Arrow needs one schema. For several calls, the facts of the first. */
function metadataOf({ calls }: Conversation): JsonObject {
  const [{ dispatchId, agentName, agentRole, turn, model, eventId }] = calls;
  return {
    dispatch_id: dispatchId,
    agent_name: agentName,
    agent_role: agentRole,
    turn,
    model: model ?? '',
    event_id: eventId,
    faded: calls.some(({ isShortened }) => isShortened),
  };
}
