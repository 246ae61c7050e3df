import type { Delta, JsonObject, JsonValue, Usage } from '@hansard/events';
import type { Awaitable } from './awaitable.ts';
import type { ContractVersion } from './contract-version.ts';

/** Makes one model call. It has no state between calls: the request contains everything that the model receives. */
export interface LanguageModelProvider {
  /** The version of this contract that the provider implements. */
  readonly contract: ContractVersion;
  generate(request: ModelRequest): Awaitable<ModelResponse>;
  close?(): Awaitable<void>;
}

export interface ModelRequest {
  readonly agentId: string;
  readonly agentName: string | null;
  /** The number of answers that the agent gave before this one. */
  readonly turn: number;
  readonly model: string | null;
  /** Deeply frozen. A provider that needs another form must copy them. */
  readonly messages: readonly ModelMessage[];
  readonly tools: readonly ToolDefinition[];
  readonly signal: AbortSignal;
  /** Receives pieces of the answer while it is generated. They are shown, never recorded (D8). */
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
