import type { JsonObject } from '@hansard/events';
import { beginningOf, type Conversation, type TrainingMessage } from '../conversation.ts';
import { argumentsOf, type RowOptions, textWithThoughts } from './row-options.ts';

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
export function sharegptBeginning(conversation: Conversation): Conversation | null {
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
export function sharegptRow({ messages }: Conversation, options: RowOptions): JsonObject {
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
    tools: options.tools === undefined ? '' : JSON.stringify(options.tools),
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
