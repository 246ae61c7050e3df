import type { JsonObject } from '@hansard/events';
import { beginningOf, type Conversation, type RowLimits, type TrainingMessage } from './conversation.ts';
import {
  argumentsOf,
  functionsOf,
  type ReasoningMode,
  type RowOptions,
  reasoningModes,
  textWithThoughts,
  thoughtsField,
  toolsField,
} from './rows.ts';

export const trainingFormatIds = ['sft', 'trl', 'trl-chat', 'openai', 'sharegpt'] as const;

export type TrainingFormatId = (typeof trainingFormatIds)[number];

/** How a format turns conversations into rows. */
export interface TrainingFormat extends RowLimits {
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
    canMask: true,
    hasImages: false,
    thoughts: [],
    toRow: sftRow,
  },
  trl: {
    id: 'trl',
    file: 'trl.jsonl',
    rows: 'calls',
    canMask: true,
    hasImages: true,
    thoughts: reasoningModes,
    toRow: trlPromptCompletionRow,
  },
  'trl-chat': {
    id: 'trl-chat',
    file: 'trl_chat.jsonl',
    rows: 'conversations',
    canMask: false,
    hasImages: true,
    thoughts: reasoningModes,
    toRow: trlChatRow,
  },
  openai: {
    id: 'openai',
    file: 'openai.jsonl',
    rows: 'conversations',
    canMask: true,
    hasImages: true,
    thoughts: asText,
    toRow: openaiRow,
  },
  sharegpt: {
    id: 'sharegpt',
    file: 'sharegpt.jsonl',
    rows: 'conversations',
    canMask: false,
    hasImages: false,
    thoughts: asText,
    beginning: sharegptBeginning,
    toRow: sharegptRow,
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
  { message, thinking, isTrained }: TrainingMessage,
  { reasoning, files }: RowOptions,
): JsonObject {
  if (message.role === 'tool')
    return { role: 'tool', tool_call_id: message.toolCallId, content: message.text };
  if (message.role !== 'assistant') {
    const images = files.imagesIn(message);
    if (images.length === 0) return { role: message.role, content: message.text };
    const shown = images.map((file) => ({ type: 'image_url', image_url: { url: files.urlOf(file) } }));
    return { role: message.role, content: [{ type: 'text', text: message.text }, ...shown] };
  }
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

type From = 'human' | 'gpt' | 'function_call' | 'observation';

interface Turn {
  readonly from: From;
  readonly value: string;
}

/**
 * The longest prefix of a conversation with valid ShareGPT turns, as LLaMA-Factory reads them: system prompts first, then
 * `human` or `observation` at odd positions, `gpt` or `function_call` at even ones. Consecutive messages from one side
 * are one turn. A turn with a tool call cannot have text.
 */
function sharegptBeginning(conversation: Conversation): Conversation | null {
  let calls = 0;
  let before: From | null = null;
  for (const { message } of conversation.messages) {
    if (message.role === 'system' && before !== null) break;
    if (message.role === 'system') continue;
    const from = fromOf(message);
    const isTurn: boolean = isAnswer(from)
      ? before !== null && !isAnswer(before)
      : before === null || isAnswer(before) || from === before;
    if (!isTurn || (from === 'function_call' && message.text !== '')) break;
    before = from;
    if (isAnswer(from)) calls += 1;
  }
  return beginningOf(conversation, calls);
}

/** The row of a conversation with valid turns. */
function sharegptRow({ calls, messages }: Conversation, options: RowOptions): JsonObject {
  const tools = options.tools ?? functionsOf(calls[0].tools);
  const system = messages.flatMap(({ message }) => (message.role === 'system' ? [message.text] : []));
  const turns: Turn[] = [];
  for (const message of messages) {
    if (message.message.role === 'system') continue;
    const turn = turnOf(message, options);
    const before = turns.at(-1);
    if (before?.from === turn.from)
      turns[turns.length - 1] = { from: turn.from, value: `${before.value}\n${turn.value}` };
    else turns.push(turn);
  }
  return {
    conversations: turns.map(({ from, value }) => ({ from, value })),
    system: system.join('\n'),
    tools: tools === null ? '' : JSON.stringify(tools),
  };
}

function turnOf({ message, thinking }: TrainingMessage, { reasoning }: RowOptions): Turn {
  const from = fromOf(message);
  if (message.role !== 'assistant') return { from, value: message.text };
  const { text, toolCalls } = message;
  const calls = toolCalls.map(({ tool, input }) => ({ name: tool, arguments: argumentsOf(input) }));
  const value = calls.length === 0 ? text : JSON.stringify(calls.length === 1 ? calls[0] : calls);
  return { from, value: textWithThoughts(value, thinking, reasoning) };
}

function fromOf(message: TrainingMessage['message']): From {
  if (message.role === 'tool') return 'observation';
  if (message.role !== 'assistant') return 'human';
  return message.toolCalls.length === 0 ? 'gpt' : 'function_call';
}

function isAnswer(from: From): boolean {
  return from === 'gpt' || from === 'function_call';
}

/** TRL, prompt and completion, conversational: the loss is on the completion, the last answer. */
function trlPromptCompletionRow(conversation: Conversation, options: RowOptions): JsonObject {
  const messages = conversation.messages.map((message) => trlMessage(message, options));
  return {
    prompt: messages.slice(0, -1),
    completion: messages.slice(-1),
    ...imagesField(conversation, options),
    ...toolsField(conversation.calls[0].tools, options),
    metadata: metadataOf(conversation),
  };
}

/** TRL, language modelling, conversational: for `assistant_only_loss`. */
function trlChatRow(conversation: Conversation, options: RowOptions): JsonObject {
  return {
    messages: conversation.messages.map((message) => trlMessage(message, options)),
    ...imagesField(conversation, options),
    ...toolsField(conversation.calls[0].tools, options),
    metadata: metadataOf(conversation),
  };
}

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
function trlText({ message, thinking }: TrainingMessage, { reasoning }: RowOptions): JsonObject {
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
