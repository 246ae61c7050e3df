import type { ContextMessage } from '@hansard/views';
import type { CallFacts, TrainedAnswer, TrainingCall } from './training-call.ts';

/** A message of training data, and whether it is an answer that is trained here. */
export interface TrainingMessage {
  readonly message: ContextMessage;
  /** The thoughts of a trained answer. */
  readonly thinking: string | null;
  readonly isTrained: boolean;
}

/** Calls of one agent of which each goes on where the one before ended: one conversation. */
export interface Conversation {
  /** Each of one trained message, in their order; at least one. */
  readonly calls: readonly [CallFacts, ...CallFacts[]];
  /** Everything that the last call was given, and its answer: the earlier prompts and answers are the beginning of it. */
  readonly messages: readonly TrainingMessage[];
}

interface OpenConversation {
  readonly calls: [CallFacts, ...CallFacts[]];
  /** By their places in the prompt. */
  readonly thinking: Map<number, string | null>;
  /** Of the latest call. The earlier prompts are its beginning, and not kept. */
  prompt: readonly ContextMessage[];
  answer: TrainedAnswer;
}

/** Gathers the calls of agents into conversations: one is over when the agent's next call does not go on with it. */
export class Conversations {
  readonly #open = new Map<string, OpenConversation>();
  readonly #showsThoughtsAsText: boolean;

  /** Thoughts that are text would be in the later prompts, which did not have them: such an answer ends its conversation. */
  constructor({ showsThoughtsAsText }: { readonly showsThoughtsAsText: boolean }) {
    this.#showsThoughtsAsText = showsThoughtsAsText;
  }

  add(call: TrainingCall): Conversation[] {
    const open = this.#open.get(call.agentId);
    if (open !== undefined && call.continues && !this.#endsWith(open)) {
      goOn(open, call);
      return [];
    }
    this.#open.set(call.agentId, begin(call));
    return open === undefined ? [] : [close(open)];
  }

  finish(): Conversation[] {
    const conversations = [...this.#open.values()].map(close);
    this.#open.clear();
    return conversations;
  }

  #endsWith({ answer }: OpenConversation): boolean {
    return this.#showsThoughtsAsText && answer.thinking !== null;
  }
}

/** A call by itself. */
export function conversationOf(call: TrainingCall): Conversation {
  return close(begin(call));
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

function begin({ prompt, answer, continues: _, ...facts }: TrainingCall): OpenConversation {
  return { calls: [facts], thinking: new Map([[prompt.length, answer.thinking]]), prompt, answer };
}

function goOn(open: OpenConversation, { prompt, answer, continues: _, ...facts }: TrainingCall): void {
  open.calls.push(facts);
  open.thinking.set(prompt.length, answer.thinking);
  open.prompt = prompt;
  open.answer = answer;
}

function close({ calls, thinking, prompt, answer: { text, toolCalls } }: OpenConversation): Conversation {
  const answer: ContextMessage = { role: 'assistant', text, toolCalls };
  const messages = [...prompt, answer].map((message, at): TrainingMessage => {
    const isTrained = thinking.has(at);
    return { message, thinking: thinking.get(at) ?? null, isTrained };
  });
  return { calls, messages };
}
