import { type CapturedEvent, isEventOf, type JsonValue } from '@hansard/events';
import type { ContextMessage } from '@hansard/views';

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
  readonly #unanswered = new Set<string>();
  #isOwn = true;

  add(event: CapturedEvent): void {
    if (event.substance !== undefined) this.#isOwn = false;
    if (isEventOf(event, 'agent:text')) this.#texts.push(event.data.text);
    else if (isEventOf(event, 'agent:thinking')) this.#thinking.push(event.data.text);
    else if (isEventOf(event, 'agent:tool_call')) {
      const { toolCallId, tool, input = null } = event.data;
      this.#toolCalls.push({ toolCallId, tool, input });
      this.#unanswered.add(toolCallId);
    }
  }

  hearResult(toolCallId: string): void {
    this.#unanswered.delete(toolCallId);
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
