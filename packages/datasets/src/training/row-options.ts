import type { JsonObject, JsonValue } from '@hansard/events';

/**
 * Where thoughts go: nowhere; before the text in `<think>` tags; or in a key of their own, as templates of different
 * models read them.
 */
export const reasoningModes = ['drop', 'think-tags', 'reasoning_content', 'thinking'] as const;

export type ReasoningMode = (typeof reasoningModes)[number];

export interface RowOptions {
  readonly reasoning: ReasoningMode;
  /** The definitions of the tools, as the target wants them; they are in no log. */
  readonly tools?: readonly JsonValue[] | undefined;
}

/** The text of an answer, with its thoughts where they belong into it. */
export function textWithThoughts(text: string, thinking: string | null, reasoning: ReasoningMode): string {
  if (thinking === null || reasoning !== 'think-tags') return text;
  return `<think>\n${thinking}\n</think>\n${text}`;
}

/** The key for the thoughts of an answer, where they have one. */
export function thoughtsField(thinking: string | null, reasoning: ReasoningMode): Record<string, string> {
  const isField = reasoning === 'reasoning_content' || reasoning === 'thinking';
  return thinking === null || !isField ? {} : { [reasoning]: thinking };
}

/** The column for the definitions of the tools, where there are some. */
export function toolsField({ tools }: RowOptions): JsonObject {
  return tools === undefined ? {} : { tools: [...tools] };
}

/** What a tool was called with; a call without any input has no arguments. */
export function argumentsOf(input: JsonValue): JsonValue {
  return input ?? {};
}
