import type { JsonObject } from '@hansard/events';
import type { Conversation, TrainingMessage } from './conversation.ts';
import {
  argumentsOf,
  type ReasoningMode,
  type RowOptions,
  reasoningModes,
  textWithThoughts,
  thoughtsField,
  toolsField,
  wordsAndThoughts,
} from './rows.ts';
import type { CallFacts } from './training-call.ts';

export const trainingFormatIds = ['sft', 'trl', 'trl-chat', 'openai'] as const;

export type TrainingFormatId = (typeof trainingFormatIds)[number];

/** How a format turns conversations into rows. */
export interface TrainingFormat {
  readonly id: TrainingFormatId;
  readonly file: string;
  /** One row per call, or one per run of calls that continue each other. */
  readonly rows: 'calls' | 'conversations';
  /** Whether a row shows the images of messages to the model. Otherwise it names them. */
  readonly hasImages: boolean;
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
    hasImages: false,
    thoughts: [],
    toRow: sftRow,
  },
  trl: {
    id: 'trl',
    file: 'trl.jsonl',
    rows: 'calls',
    hasImages: true,
    thoughts: reasoningModes,
    toRow: trlPromptCompletionRow,
  },
  'trl-chat': {
    id: 'trl-chat',
    file: 'trl_chat.jsonl',
    rows: 'conversations',
    hasImages: true,
    thoughts: reasoningModes,
    toRow: trlChatRow,
  },
  openai: {
    id: 'openai',
    file: 'openai.jsonl',
    rows: 'conversations',
    hasImages: true,
    thoughts: asText,
    toRow: openaiRow,
  },
};

/**
 * OpenAI's chat format for fine-tuning. Arguments are a JSON string; an answer that another row trains has the weight 0;
 * there are no other keys. An image of a message is a part with a data URL, besides its name in the text.
 */
function openaiRow({ calls, messages }: Conversation, options: RowOptions): JsonObject {
  return {
    messages: messages.map((message) => openaiMessage(message, options)),
    ...toolsField(calls[0].tools, options),
  };
}

function openaiMessage(
  { message, thinking: apart, isTrained }: TrainingMessage,
  options: RowOptions,
): JsonObject {
  const { reasoning, files } = options;
  if (message.role === 'tool')
    return { role: 'tool', tool_call_id: message.toolCallId, content: message.text };
  if (message.role !== 'assistant') {
    const images = files.imagesIn(message);
    if (images.length === 0) return { role: message.role, content: message.text };
    const shown = images.map((file) => ({ type: 'image_url', image_url: { url: files.urlOf(file) } }));
    return { role: message.role, content: [{ type: 'text', text: message.text }, ...shown] };
  }
  const { text, thinking } = wordsAndThoughts(message.text, apart, options);
  const content = textWithThoughts(text, thinking, reasoning);
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

/** TRL, prompt and completion, conversational: the loss is on the completion, the last answer. */
function trlPromptCompletionRow(conversation: Conversation, options: RowOptions): JsonObject {
  const messages = conversation.messages.map((message) => trlMessage(message, options));
  return {
    prompt: messages.slice(0, -1),
    completion: messages.slice(-1),
    ...imagesField(conversation, options),
    ...toolsText(conversation.calls[0].tools, options),
    metadata: metadataOf(conversation),
  };
}

/** Definitions as JSON text: their schemas have keys of any type, and Arrow needs one for each column. */
function toolsText(tools: CallFacts['tools'], options: RowOptions): JsonObject {
  const { tools: definitions } = toolsField(tools, options);
  return definitions === undefined ? {} : { tools: JSON.stringify(definitions) };
}

/**
 * TRL, language modelling, conversational, and LLaMA-Factory. Each message has its mask (`train`) and its calls, so that each column has one type. Only the answers of
 * the row's own calls are trained.
 */
function trlChatRow(conversation: Conversation, options: RowOptions): JsonObject {
  return {
    messages: conversation.messages.map((message) => ({
      ...{ train: message.isTrained, tool_calls: [] },
      ...trlMessage(message, options),
    })),
    ...imagesField(conversation, options),
    ...toolsText(conversation.calls[0].tools, options),
    metadata: { ...metadataOf(conversation), calls: conversation.calls.map(({ eventId }) => eventId) },
  };
}

/** What LLaMA-Factory reads of a file of `trl-chat`, as its `dataset_info.json`. */
export const llamaFactoryInfo = {
  hansard: {
    file_name: 'trl_chat.jsonl',
    formatting: 'openai',
    columns: { messages: 'messages', tools: 'tools' },
    tags: {
      role_tag: 'role',
      content_tag: 'content',
      user_tag: 'user',
      assistant_tag: 'assistant',
      observation_tag: 'tool',
      function_tag: 'function_call',
      system_tag: 'system',
    },
  },
} as const;

/**
 * The column with the images of all messages, as data URLs in their order. Arrow needs one schema: if any row of the file has an image, every row has the
 * column, and every content is a list of parts.
 */
function imagesField({ messages }: Conversation, { files }: RowOptions): JsonObject {
  const images = messages.flatMap(({ message }) => files.imagesIn(message).map((file) => files.urlOf(file)));
  return files.hasImages ? { images } : {};
}

function trlMessage(trained: TrainingMessage, options: RowOptions): JsonObject {
  const { files } = options;
  const images = files.imagesIn(trained.message);
  const row = trlText(trained, options);
  if (!files.hasImages && images.length === 0) return row;
  const shown = images.map(() => ({ type: 'image' }));
  return { ...row, content: [...shown, { type: 'text', text: row.content ?? '' }] };
}

/** Arguments are JSON text, because Arrow needs one type for a column. Templates find a result by the name of its tool. */
function trlText({ message, thinking: apart }: TrainingMessage, options: RowOptions): JsonObject {
  if (message.role === 'tool') return { role: 'tool', name: message.tool, content: message.text };
  if (message.role !== 'assistant') return { role: message.role, content: message.text };
  const { reasoning } = options;
  const { toolCalls } = message;
  const { text, thinking } = wordsAndThoughts(message.text, apart, options);
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
  const [{ dispatchId, agentName, agentRole, turn, model, eventId, outcome }] = calls;
  return {
    dispatch_id: dispatchId,
    agent_name: agentName,
    agent_role: agentRole,
    turn,
    model: model ?? '',
    event_id: eventId,
    outcome,
    faded: calls.some(({ isShortened }) => isShortened),
  };
}
