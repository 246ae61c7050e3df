import type { JsonObject, JsonValue } from '@hansard/events';
import type { Awaitable } from './awaitable.ts';
import type { ToolDefinition } from './language-model-provider.ts';

/** Contributes tools that agents can call. A tool that throws becomes a result with `status: error`, never a dead dispatch. */
export interface ToolProvider {
  listTools(): Awaitable<readonly ToolDefinition[]>;
  callTool(call: ToolCall): Awaitable<ToolOutcome>;
  close?(): Awaitable<void>;
}

export interface ToolCall {
  readonly taskDir: string;
  readonly dispatchId: string;
  /** Whose call it is; absent: the dispatched agent. */
  readonly agentId?: string;
  readonly toolCallId: string;
  readonly tool: string;
  readonly input: JsonValue;
  readonly signal: AbortSignal;
}

export interface ToolOutcome {
  readonly status: 'completed' | 'error';
  /** What the model reads. */
  readonly text: string;
  /** What is worth recording at `narrative` fidelity (D7). */
  readonly metadata?: JsonObject;
}
