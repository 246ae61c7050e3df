import type { JsonObject, JsonValue } from '@hansard/events';
import type { ContextMessage } from '@hansard/prompt';

/**
 * The place of thoughts: nowhere; before the text in `<think>` tags; or in a key of their own, as the templates of
 * different models expect them.
 */
export const reasoningModes = ['drop', 'think-tags', 'reasoning_content', 'thinking'] as const;

export type ReasoningMode = (typeof reasoningModes)[number];

export interface RowOptions {
  readonly reasoning: ReasoningMode;
  /** The definitions of the tools in the form of the target. They are not in the log. */
  readonly tools?: readonly JsonValue[] | undefined;
}

/** The text of an answer, with its thoughts if they are part of it. */
export function textWithThoughts(text: string, thinking: string | null, reasoning: ReasoningMode): string {
  if (thinking === null || reasoning !== 'think-tags') return text;
  return `<think>\n${thinking}\n</think>\n${text}`;
}

/** The key for the thoughts of an answer, if they have one. */
export function thoughtsField(thinking: string | null, reasoning: ReasoningMode): Record<string, string> {
  const isField = reasoning === 'reasoning_content' || reasoning === 'thinking';
  return thinking === null || !isField ? {} : { [reasoning]: thinking };
}

/** The column for the definitions of the tools, if any. */
export function toolsField({ tools }: RowOptions): JsonObject {
  return tools === undefined ? {} : { tools: [...tools] };
}

/** The arguments of a call; empty for a call without input. */
export function argumentsOf(input: JsonValue): JsonValue {
  return input ?? {};
}

export interface RowSize {
  readonly bytes: number;
  readonly tokens: number;
}

export type MeasureMessage = (message: ContextMessage) => RowSize;

export const nothing: RowSize = { bytes: 0, tokens: 0 };

export function plus(one: RowSize, other: RowSize): RowSize {
  return { bytes: one.bytes + other.bytes, tokens: one.tokens + other.tokens };
}
