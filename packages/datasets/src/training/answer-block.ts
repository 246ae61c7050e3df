import { type CapturedEvent, isEventOf, type JsonValue } from '@hansard/events';
import type { ContextMessage } from '@hansard/prompt';

/** The answer of a model in one call. */
export interface TrainedAnswer {
  readonly text: string;
  /** Null if none is in the log. */
  readonly thinking: string | null;
  readonly toolCalls: Extract<ContextMessage, { role: 'assistant' }>['toolCalls'];
}

/** Whether the event is a part of a model's answer. An output without parts stands for an empty answer. */
export function isAnswerBlock(event: CapturedEvent): boolean {
  const { type, messageId } = event;
  if (type === 'agent:text' || type === 'agent:thinking' || type === 'agent:tool_call') return true;
  return isEventOf(event, 'agent:output') && messageId !== undefined && event.data.parts.length === 0;
}

/** Collects an answer from its blocks. */
export class GatheredAnswer {
  readonly #texts: string[] = [];
  readonly #thinking: string[] = [];
  readonly #toolCalls: { toolCallId: string; tool: string; input: JsonValue }[] = [];
  readonly #called = new Set<string>();
  readonly #unanswered = new Set<string>();
  #isOwn = true;
  #isOver = false;

  add(event: CapturedEvent): void {
    if (event.substance !== undefined) this.#isOwn = false;
    if (isEventOf(event, 'agent:text')) this.#texts.push(event.data.text);
    else if (isEventOf(event, 'agent:thinking')) this.#thinking.push(event.data.text);
    else if (isEventOf(event, 'agent:tool_call')) {
      const { toolCallId, tool, input = null } = event.data;
      this.#toolCalls.push({ toolCallId, tool, input });
      this.#called.add(toolCallId);
      this.#unanswered.add(toolCallId);
    }
  }

  /** `isWithin`: the result is part of the model's message, because its provider made the call. */
  hearResult(toolCallId: string, isWithin: boolean): void {
    this.#unanswered.delete(toolCallId);
    if (isWithin && this.#called.has(toolCallId)) this.#isOver = true;
  }

  /** Whether the model saw a result within its message. The rest of the message is an answer of its own. */
  get isOver(): boolean {
    return this.#isOver;
  }

  get isDangling(): boolean {
    return this.#unanswered.size > 0;
  }

  /** Whether all of its text is the agent's own. */
  get isOwn(): boolean {
    return this.#isOwn;
  }

  get answer(): TrainedAnswer {
    return {
      text: this.#texts.join(''),
      thinking: this.#thinking.length === 0 ? null : this.#thinking.join('\n'),
      toolCalls: this.#toolCalls,
    };
  }
}
