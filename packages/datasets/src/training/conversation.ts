import type { ContextMessage } from '@hansard/views';
import type { CallRun } from './call-run.ts';
import type { CallFacts } from './training-call.ts';

/** A message of training data, and whether it is an answer that is trained here. */
export interface TrainingMessage {
  readonly message: ContextMessage;
  /** The thoughts of a trained answer. */
  readonly thinking: string | null;
  readonly isTrained: boolean;
}

/** A run of calls as one conversation. */
export interface Conversation {
  /** Each of one trained message, in their order; at least one. */
  readonly calls: readonly [CallFacts, ...CallFacts[]];
  /** Everything that the last call was given, and its answer: the earlier prompts and answers are the beginning of it. */
  readonly messages: readonly TrainingMessage[];
}

export function conversationOf({ calls, thinking, last: { prompt, answer } }: CallRun): Conversation {
  const { text, toolCalls } = answer;
  const spoken: ContextMessage = { role: 'assistant', text, toolCalls };
  const messages = [...prompt.context.messages, spoken].map((message, at): TrainingMessage => {
    const isTrained = thinking.has(at);
    return { message, thinking: thinking.get(at) ?? null, isTrained };
  });
  return { calls, messages };
}

/** The first calls of a conversation, and nothing behind them. */
export function beginningOf({ calls, messages }: Conversation, count: number): Conversation | null {
  const [first, ...more] = calls.slice(0, count);
  if (first === undefined) return null;
  let left = count;
  const end = messages.findIndex(({ isTrained }) => {
    if (isTrained) left -= 1;
    return left === 0;
  });
  return { calls: [first, ...more], messages: messages.slice(0, end + 1) };
}
