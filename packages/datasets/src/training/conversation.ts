import type { ContextMessage } from '@hansard/views';
import type { CallRun } from './call-run.ts';
import type { CallFacts } from './training-call.ts';

/** A message of training data, and whether this row trains it. */
export interface TrainingMessage {
  readonly message: ContextMessage;
  /** The thoughts of a trained answer. */
  readonly thinking: string | null;
  readonly isTrained: boolean;
}

/** A run of calls as one conversation. */
export interface Conversation {
  /** The calls, each with one trained message, in order; at least one. */
  readonly calls: readonly [CallFacts, ...CallFacts[]];
  /** The prompt of the last call and its answer. The earlier prompts and answers are prefixes of it. */
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

/** The first calls of a conversation, without the rest. */
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
