import type { JsonObject, JsonValue } from '@hansard/events';
import type { AgentHost } from './agent-host.ts';
import type { Awaitable } from './awaitable.ts';
import type { ContractVersion } from './contract-version.ts';
import type { DispatchHost } from './dispatch-host.ts';
import type { ToolDefinition } from './language-model-provider.ts';

/** Contributes tools that agents can call. A tool that throws gives a result with `status: error` and does not end the dispatch. */
export interface ToolProvider {
  /** The version of this contract that the provider implements. */
  readonly contract: ContractVersion;
  listTools(): Awaitable<readonly ToolDefinition[]>;
  callTool(call: ToolCall): Awaitable<ToolOutcome>;
  close?(): Awaitable<void>;
}

export interface ToolCall {
  readonly taskDir: string;
  readonly dispatchId: string;
  /** The agent that made the call; absent: the dispatched agent. */
  readonly agentId?: string;
  readonly toolCallId: string;
  readonly tool: string;
  readonly input: JsonValue;
  readonly signal: AbortSignal;
  /** The agents of the session; absent if the call does not come from one. */
  readonly agents?: AgentHost;
  /** The workers of the calling dispatch; absent if it can have none. */
  readonly dispatches?: DispatchHost;
}

export interface ToolOutcome {
  readonly status: 'completed' | 'error';
  /** The text that the model reads. */
  readonly text: string;
  /** Facts that are also recorded at `narrative` fidelity (D7). */
  readonly metadata?: JsonObject;
  /**
   * The ids of the utterances from which the text was made. With one, the result carries the same content and has it as
   * `substance`. With several, the result is new content and has them as `cause` (S4).
   */
  readonly madeFrom?: readonly string[];
}
