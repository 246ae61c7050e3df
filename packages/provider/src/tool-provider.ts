import type { JsonObject, JsonValue } from '@hansard/events';
import type { AgentHost } from './agent-host.ts';
import type { Awaitable } from './awaitable.ts';
import type { DispatchHost } from './dispatch-host.ts';
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
  /** The agents of the session; absent where the call does not come from one. */
  readonly agents?: AgentHost;
  /** The workers of the calling dispatch; absent where it can have none. */
  readonly dispatches?: DispatchHost;
}

export interface ToolOutcome {
  readonly status: 'completed' | 'error';
  /** What the model reads. */
  readonly text: string;
  /** What is worth recording at `narrative` fidelity (D7). */
  readonly metadata?: JsonObject;
  /**
   * The utterances that the text was made of, by their ids. One: the result carries that content on, and has it as
   * `substance`. Several: the result is new content, and has them as `cause`.
   */
  readonly madeFrom?: readonly string[];
}
