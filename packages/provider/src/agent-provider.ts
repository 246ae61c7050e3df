import type { CapturedEvent, Delta, Fidelity, JsonObject, JsonValue, NewEvent } from '@hansard/events';
import type { Awaitable } from './awaitable.ts';
import type { ContractVersion } from './contract-version.ts';
import type { ToolDefinition } from './language-model-provider.ts';
import type { ToolOutcome } from './tool-provider.ts';

/**
 * Runs a dispatched agent to its end and yields its events in order.
 *
 * The caller is `runDispatch` of `@hansard/dispatch`. What a provider may assume:
 * - The envelope and the prompt are in the store when `run` is called, once for each dispatch. Several runs of one provider
 *   can take place at the same time.
 * - Each event is recorded before the next item is requested, so an event that was yielded is not lost. It is checked and copied
 *   then. An absent `id` or `timestamp` is filled in, and what a `narrative` log leaves out is removed.
 *
 * What it must do:
 * - Yield events of valid shape. An event that is refused with an `EVENT_…` code or STORE_EVENT_CONFLICT crashes the dispatch,
 *   like an error that the provider throws.
 * - End the iterable when the agent has ended. Nothing may run on after that.
 * - Ask the hooks before each call of the agent's own tools, and obey ({@link AgentRunRequest.askHooks}).
 * - State the result with `session:complete`, if there is one. An agent that works in turns yields one for each turn; the
 *   last one counts, and after it the agent neither writes nor calls a tool. Its status `failed` makes the dispatch `crashed`.
 *   Without one, the dispatch completes without a result.
 * - Stop soon after `signal` aborts, and end the iterable or throw. Until then its events are still recorded, so it can report
 *   the results of its aborted calls. After a grace time (`graceMs`, by default 5 seconds) the dispatch ends without it, and
 *   what it yields later is ignored. `return` of the iterator is called when an event is refused or nobody reads any more.
 *
 * What it may throw: any error. It is recorded as `harness:error` with its code and message, and the dispatch becomes `crashed`.
 * An error after the abort is ignored: the dispatch is `aborted` already.
 */
export interface AgentProvider {
  /** The version of this contract that the provider implements. */
  readonly contract: ContractVersion;
  /** Runs the agent. Work may begin when the first item is requested. */
  run(request: AgentRunRequest): AsyncIterable<AgentActivity>;
  /**
   * For an agent that plays a recording: the time at which the recording begins (RFC 3339, UTC, milliseconds), or null if it
   * has no times. Called before the dispatch is created. The envelope then has the times of the recording: it starts at this one
   * and is completed at the latest of its events, and what the harness adds meanwhile has the latest time so far. Limits
   * keep to the real time. `startDispatch` throws the errors of this method; `run` must throw the errors that belong in the log.
   */
  recordedStart?(signal: AbortSignal): Awaitable<string | null>;
  /** `false`: its runs read no messages, so none is delivered to them. Absent: they may. */
  readonly takesMessages?: boolean;
  /** Releases what the provider holds. Called by its owner when no run is active; a second call does nothing. */
  close?(): Awaitable<void>;
}

/** One run. The provider must not change it. */
export interface AgentRunRequest {
  readonly taskDir: string;
  readonly dispatchId: string;
  /** The task of the agent; already recorded as `user:message`. Empty if the dispatch has no prompt. */
  readonly prompt: string;
  readonly role: string;
  /** Null: the default of the provider, which then names it in `session:init`. */
  readonly model: string | null;
  readonly cwd: string | null;
  /** Whether events include tool input and output (`full`) or not (`narrative`, D7). */
  readonly fidelity: Fidelity;
  /**
   * Messages for the running agent. Each is already recorded as a `user:message`: the provider must not yield it again. Each
   * message goes to one reader. Ends when the dispatch is stopped or has ended. A provider without a use for messages states `takesMessages: false`.
   */
  readonly messages: AsyncIterable<CapturedEvent>;
  /** Aborts when the dispatch must end: on request, by a limit, or because the store failed. */
  readonly signal: AbortSignal;
  /** The tools of the project. A call asks the hooks first, so the provider does not. Calls may run at the same time. */
  readonly tools: readonly OfferedTool[];
  /**
   * Asks the project's hooks about a call of one of the agent's own tools. The provider must ask before it makes the call and
   * must obey the verdict: make the call with the `input` of the verdict, or not at all. The decision is recorded before this
   * resolves. Rejects only when the dispatch is stopped. May be called for several calls at the same time.
   */
  askHooks(call: AgentToolCall): Promise<ToolCallVerdict>;
  /** JSON Schema of the requested result, which `session:complete` reports as `structuredResult`. */
  readonly outputSchema?: JsonObject;
  /** The maximum number of turns, from 1. The provider applies it if it can; nothing else does. */
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
  /**
   * Makes the call. If the tool throws, or a hook denies the call or its result, the outcome has status `error`. Never
   * rejects.
   */
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
