import type { CapturedEvent, Delta, Fidelity, JsonObject, JsonValue, NewEvent } from '@hansard/events';
import type { Awaitable } from './awaitable.ts';
import type { ToolDefinition } from './language-model-provider.ts';
import type { ToolOutcome } from './tool-provider.ts';

/**
 * Runs a dispatched agent to its end and yields what happens, in order. `runDispatch` records each event before it asks
 * for the next one, so a provider that yields nothing more has lost nothing.
 *
 * The agent ended when the iterable ends. A `session:complete` event says how; without one the dispatch is complete with
 * nothing known of its result. A provider that throws crashes the dispatch: the error is recorded as `harness:error`.
 */
export interface AgentProvider {
  run(request: AgentRunRequest): AsyncIterable<AgentActivity>;
  /**
   * For an agent that plays a recording: when the recording begins (RFC 3339, UTC, milliseconds), or null where it has no
   * times. Asked before the dispatch is created. The envelope then has the times of the recording: it starts at this one
   * and is completed at the latest of its events, and what the harness adds meanwhile has the latest time so far. Limits
   * keep to the real time. What it throws, `startDispatch` throws: leave to `run` what the log should tell.
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
  /** Whether tool input and output belong into the events (`full`) or not (`narrative`, D7). */
  readonly fidelity: Fidelity;
  /** Messages for the running agent. Each is already recorded as a `user:message`. Ends when the dispatch does. */
  readonly messages: AsyncIterable<CapturedEvent>;
  /** Aborted when the dispatch must end: stop soon, then end the iterable. */
  readonly signal: AbortSignal;
  /** The tools of the project, for an agent that can call them. Their hooks are asked when they are called. */
  readonly tools: readonly OfferedTool[];
  /**
   * Asks the project's hooks about a call of the agent's own tools, before it is made. What they decide is recorded
   * when this resolves; the provider obeys. Rejects only when the dispatch is stopped.
   */
  askHooks(call: AgentToolCall): Promise<ToolCallVerdict>;
  /** JSON Schema of the result that is asked for; it ends in `structuredResult` of `session:complete`. */
  readonly outputSchema?: JsonObject;
  /** The most turns that the agent may take. */
  readonly maxTurns?: number;
  /** The most that it may cost, in US dollars, for a provider that knows it before its events tell. */
  readonly maxCostUsd?: number;
  /** The agent's own session that this dispatch goes on with, as its `session:init` named it. */
  readonly resumeSessionId?: string;
}

/** A call that an agent makes. */
export interface AgentToolCall {
  /** Whose call it is; absent: the dispatched agent. */
  readonly agentId?: string;
  readonly toolCallId: string;
  readonly tool: string;
  readonly input: JsonValue;
}

export type ToolCallVerdict =
  /** `input` is what the call is made with: its own, or what a hook put in its place. */
  | { readonly decision: 'allow'; readonly input: JsonValue; readonly isAltered: boolean }
  | { readonly decision: 'deny'; readonly hook: string; readonly reason: string };

/** A tool of the project as a running agent gets it. */
export interface OfferedTool {
  readonly definition: ToolDefinition;
  /** Makes the call. A tool that throws, or that a hook denies, gives an outcome of status `error`. Never rejects. */
  call(call: Omit<AgentToolCall, 'tool'> & { readonly signal: AbortSignal }): Promise<ToolOutcome>;
}

/** One thing that an agent provider yields: an event to record, or a delta that is only shown (D8). */
export type AgentActivity =
  | {
      readonly kind: 'event';
      readonly event: NewEvent;
      /** It says only that the agent is still there, not that it gets on: it is recorded, and the silence goes on. */
      readonly isHeartbeat?: boolean;
    }
  | { readonly kind: 'delta'; readonly delta: Delta };
