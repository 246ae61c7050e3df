import type { Delta, JsonObject, JsonValue, Usage } from '@hansard/events';
import type { Awaitable } from './awaitable.ts';

/** Makes one model call. It keeps nothing between calls: all that the model sees is in the request. */
export interface LanguageModelProvider {
  generate(request: ModelRequest): Awaitable<ModelResponse>;
  close?(): Awaitable<void>;
}

export interface ModelRequest {
  readonly agentId: string;
  readonly agentName: string | null;
  /** How many answers the agent had before this one. */
  readonly turn: number;
  readonly model: string | null;
  /** Sessions give frozen ones, inside too: a model that needs them otherwise makes its own. */
  readonly messages: readonly ModelMessage[];
  readonly tools: readonly ToolDefinition[];
  readonly signal: AbortSignal;
  /** Takes pieces of the answer on their way; they are shown, never recorded. */
  readonly onDelta?: (delta: Delta) => void;
}

export type ModelMessage =
  | { readonly role: 'system' | 'user'; readonly text: string }
  | { readonly role: 'assistant'; readonly text: string; readonly toolCalls: readonly ModelToolCall[] }
  | {
      readonly role: 'tool';
      readonly toolCallId: string;
      readonly tool: string;
      readonly text: string;
      readonly isError: boolean;
    };

export interface ModelToolCall {
  readonly toolCallId: string;
  readonly tool: string;
  readonly input: JsonValue;
}

export interface ModelResponse {
  readonly text: string;
  readonly thinking?: { readonly text: string; readonly signature?: string };
  readonly toolCalls: readonly ModelToolCall[];
  readonly model: string;
  readonly usage: Usage;
  readonly costUsd?: number;
  readonly stopReason?: string;
}

export interface ToolDefinition {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the input. */
  readonly inputSchema: JsonObject;
}
