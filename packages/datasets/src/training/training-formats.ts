import type { JsonObject } from '@hansard/events';
import type { Conversation, RowLimits, TrainingMessage } from './conversation.ts';
import {
  argumentsOf,
  type ReasoningMode,
  type RowOptions,
  reasoningModes,
  textWithThoughts,
  toolsField,
} from './rows/row-options.ts';
import { sharegptBeginning, sharegptRow } from './rows/sharegpt-row.ts';
import { trlChatRow, trlPromptCompletionRow } from './rows/trl-rows.ts';

export const trainingFormatIds = ['sft', 'trl', 'trl-chat', 'openai', 'sharegpt'] as const;

export type TrainingFormatId = (typeof trainingFormatIds)[number];

/** How a format turns conversations into rows. */
export interface TrainingFormat extends RowLimits {
  readonly id: TrainingFormatId;
  readonly file: string;
  /** One row per call, or one per run of calls that continue each other. */
  readonly rows: 'calls' | 'conversations';
  /** The possible places of thoughts. Empty if they are always part of the format (G5). */
  readonly thoughts: readonly ReasoningMode[];
  toRow(conversation: Conversation, options: RowOptions): JsonObject;
}

const asText = ['drop', 'think-tags'] as const;

export const trainingFormats: Readonly<Record<TrainingFormatId, TrainingFormat>> = {
  sft: {
    id: 'sft',
    file: 'sft_dataset.jsonl',
    rows: 'calls',
    canMask: true,
    thoughts: [],
    toRow: sftRow,
  },
  trl: {
    id: 'trl',
    file: 'trl.jsonl',
    rows: 'calls',
    canMask: true,
    thoughts: reasoningModes,
    toRow: trlPromptCompletionRow,
  },
  'trl-chat': {
    id: 'trl-chat',
    file: 'trl_chat.jsonl',
    rows: 'conversations',
    canMask: false,
    thoughts: reasoningModes,
    toRow: trlChatRow,
  },
  openai: {
    id: 'openai',
    file: 'openai.jsonl',
    rows: 'conversations',
    canMask: true,
    thoughts: asText,
    toRow: openaiRow,
  },
  sharegpt: {
    id: 'sharegpt',
    file: 'sharegpt.jsonl',
    rows: 'conversations',
    canMask: false,
    thoughts: asText,
    beginning: sharegptBeginning,
    toRow: sharegptRow,
  },
};

/**
 * OpenAI's chat format for fine-tuning. Arguments are a JSON string; an answer that another row trains has the weight 0;
 * there are no other keys.
 */
function openaiRow({ messages }: Conversation, options: RowOptions): JsonObject {
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

/**
 * One prompt and its answer as text (G5). The prompt ends after a line
 * feed, so that its end does not depend on the text that follows.
 */
function sftRow({ calls, messages }: Conversation): JsonObject {
  const [{ dispatchId, agentName, agentRole, turn }] = calls;
  const texts = messages.map(messageText);
  return {
    prompt: texts.slice(0, -1).join(''),
    completion: texts.at(-1) ?? '',
    metadata: { game_id: dispatchId, agent_name: agentName, agent_role: agentRole, turn },
  };
}

function messageText({ message, thinking }: TrainingMessage): string {
  if (message.role === 'tool')
    return `<tool_result name=${JSON.stringify(message.tool)}>\n${message.text}\n</tool_result>\n`;
  if (message.role !== 'assistant') return `<${message.role}>\n${message.text}\n</${message.role}>\n`;
  const { text, toolCalls } = message;
  const parts = [
    ...(thinking === null ? [] : [`<thinking>\n${thinking}\n</thinking>`]),
    ...(text === '' ? [] : [text]),
    ...toolCalls.map(
      ({ tool, input }) =>
        `<tool_call name=${JSON.stringify(tool)}>${JSON.stringify(argumentsOf(input))}</tool_call>`,
    ),
  ];
  return `<assistant>\n${parts.join('\n')}\n</assistant>\n`;
}
