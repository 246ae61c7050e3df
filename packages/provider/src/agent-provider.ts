import type { CapturedEvent, Delta, Fidelity, JsonObject, JsonValue, NewEvent } from '@hansard/events';
import type { Awaitable } from './awaitable.ts';
import type { ContractVersion } from './contract-version.ts';
import type { ToolDefinition } from './language-model-provider.ts';
import type { ToolOutcome } from './tool-provider.ts';

/**
 * Runs a dispatched agent to its end and yields its events in order. `runDispatch` records each event before it requests
 * the next one, so an event that was yielded is never lost.
 *
 * The agent has ended when the iterable ends. A `session:complete` event states the result; without one, the dispatch
 * completes without a result. If the provider throws, the dispatch crashes and the error is recorded as `harness:error`.
 */
export interface AgentProvider {
  /** The version of this contract that the provider implements. */
  readonly contract: ContractVersion;
  run(request: AgentRunRequest): AsyncIterable<AgentActivity>;
  /**
   * For an agent that plays a recording: the time at which the recording begins (RFC 3339, UTC, milliseconds), or null if it
   * has no times. Called before the dispatch is created. The envelope then has the times of the recording: it starts at this one
   * and is completed at the latest of its events, and what the harness adds meanwhile has the latest time so far. Limits
   * keep to the real time. `startDispatch` throws the errors of this method; `run` must throw the errors that belong in the log.
   */
  recordedStart?(signal: AbortSignal): Awaitable<string | null>;
  close?(): Awaitable<void>;
}

export interface AgentRunRequest {
  readonly taskDir: string;
  readonly dispatchId: string;
  readonly prompt: string;
  readonly role: string;
  readonly model: string | null;
  readonly cwd: string | null;
  /** Whether events include tool input and output (`full`) or not (`narrative`, D7). */
  readonly fidelity: Fidelity;
  /** Messages for the running agent. Each is already recorded as a `user:message`. Ends when the dispatch does. */
  readonly messages: AsyncIterable<CapturedEvent>;
  /** Aborts when the dispatch must end. The provider must stop soon and end the iterable. */
  readonly signal: AbortSignal;
  /** The tools of the project. A call asks the hooks first. */
  readonly tools: readonly OfferedTool[];
  /**
   * Asks the project's hooks about a call of one of the agent's own tools. The provider must ask before it makes the call and
   * must obey the verdict. The decision is recorded before this resolves. Rejects only when the dispatch is stopped.
   */
  askHooks(call: AgentToolCall): Promise<ToolCallVerdict>;
  /** JSON Schema of the requested result, which `session:complete` reports as `structuredResult`. */
  readonly outputSchema?: JsonObject;
  /** The maximum number of turns. */
  readonly maxTurns?: number;
  /** The maximum cost in US dollars, for a provider that knows the cost before its events state it. */
  readonly maxCostUsd?: number;
  /** The agent's own session that this dispatch resumes, by the id in its `session:init`. */
  readonly resumeSessionId?: string;
}

/** A call that an agent makes. */
export interface AgentToolCall {
  /** The agent that makes the call; absent: the dispatched agent. */
  readonly agentId?: string;
  readonly toolCallId: string;
  readonly tool: string;
  readonly input: JsonValue;
}

export type ToolCallVerdict =
  /** The call must be made with `input`: the original, or the replacement of a hook. */
  | { readonly decision: 'allow'; readonly input: JsonValue; readonly isAltered: boolean }
  | { readonly decision: 'deny'; readonly hook: string; readonly reason: string };

/** A tool of the project, offered to a running agent. */
export interface OfferedTool {
  readonly definition: ToolDefinition;
  /** Makes the call. If the tool throws or a hook denies it, the outcome has status `error`. Never rejects. */
  call(call: Omit<AgentToolCall, 'tool'> & { readonly signal: AbortSignal }): Promise<ToolOutcome>;
}

/** An item that an agent provider yields: an event to record, or a delta that is only shown (D8). */
export type AgentActivity =
  | {
      readonly kind: 'event';
      readonly event: NewEvent;
      /** The event shows only that the agent is running. It is recorded, but does not reset the limit on silence. */
      readonly isHeartbeat?: boolean;
    }
  | { readonly kind: 'delta'; readonly delta: Delta };
