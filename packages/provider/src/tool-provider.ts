import type { FileChange, JsonObject, JsonValue, MediaPart } from '@hansard/events';
import type { AgentHost } from './agent-host.ts';
import type { Awaitable } from './awaitable.ts';
import type { ContractVersion } from './contract-version.ts';
import type { DispatchHost } from './dispatch-host.ts';
import type { ToolDefinition } from './language-model-provider.ts';
import type { LoggedString } from './logged-string.ts';

/**
 * Contributes tools that agents can call.
 *
 * The callers are runs of `@hansard/dispatch` and sessions of `@hansard/session`. What a provider may assume:
 * - The hooks have allowed the call, and `input` is what they decided.
 * - `tool` is a name from its own `listTools`. If two providers have a tool of one name, the first in the configuration gets the calls.
 *
 * What it must do:
 * - Check `input` itself: it is JSON, but nothing has compared it with `inputSchema`. For a wrong input, return an outcome with
 *   `status: 'error'` and a text from which the model learns what to change.
 * - Accept calls at the same time, of one dispatch and of several. The calls of one answer in a session are made one after the
 *   other unless the session has `parallelToolCalls`; those of different agents, and of an engine that runs its own loop, are
 *   made at the same time.
 * - Leave `call` and its `input` as they are.
 * - Stop soon after `call.signal` aborts. The caller does not wait and ignores a late outcome. There is no time limit for a call
 *   besides those of the dispatch, so a tool that can hang needs its own.
 *
 * What it may throw: any error in `callTool`. The agent gets it as a result with `status: 'error'` and the text `Error: …` with
 * the message, and the dispatch continues. The same happens with what is not a {@link ToolOutcome}.
 */
export interface ToolProvider {
  /** The version of this contract that the provider implements. */
  readonly contract: ContractVersion;
  /**
   * Lists its tools. Called once before each run or session begins; workers share the list of the run. An error rejects the
   * start of the run or session, and nothing is recorded. Each call must return equal definitions while the provider is open.
   */
  listTools(): Awaitable<readonly ToolDefinition[]>;
  /** Makes one call. An unknown `tool` is an error: thrown, or an outcome with `status: 'error'`. */
  callTool(call: ToolCall): Awaitable<ToolAnswer>;
  /** Releases what the provider holds. Called by its owner when no call is running; a second call does nothing. */
  close?(): Awaitable<void>;
}

/** One call. The provider must not change it. */
export interface ToolCall {
  readonly taskDir: string;
  readonly dispatchId: string;
  /** The agent that made the call; absent: the dispatched agent. */
  readonly agentId?: string;
  /** Unique among the calls of its agent. */
  readonly toolCallId: string;
  readonly tool: string;
  /** JSON, not checked against the tool's `inputSchema`. */
  readonly input: JsonValue;
  /** Aborts when the dispatch is stopped or the agent no longer waits for the result. */
  readonly signal: AbortSignal;
  /**
   * Records values that the agent observes in this call, such as printed output, in one `agent:output`, and returns its id. Its
   * cause is the call. The values are copied at the call; later changes to them are not in the log (U2). A dispatch of `narrative`
   * fidelity keeps what `docs/narrative.md` says. Durable when it resolves, and before the result of the call.
   * @throws DISPATCH_CALL_OVER after the call has settled; the error of the store
   */
  observe(...values: unknown[]): Promise<string>;
  /**
   * The agents of the session; absent if the call does not come from one. Its actions can be used until the call settles;
   * then they reject with DISPATCH_CALL_OVER.
   */
  readonly agents?: AgentHost;
  /** The workers of the calling dispatch; absent if it can have none. */
  readonly dispatches?: DispatchHost;
}

/** What a tool gives: an outcome, whose text may be what an agent said. Then the result carries that content, unless `madeFrom` says otherwise. */
export interface ToolAnswer extends Omit<ToolOutcome, 'text'> {
  readonly text: string | LoggedString;
}

/** The result of one call. It is recorded as `agent:tool_result`. */
export interface ToolOutcome {
  /** `error`: the tool was not able to do what was requested. The agent continues. */
  readonly status: 'completed' | 'error';
  /** The text that the model reads. */
  readonly text: string;
  /**
   * Images, documents and sounds of the result, after its text: bytes in Base64, or parts that the log has. The log keeps the bytes as content, and the model
   * gets them. Absent: none.
   */
  readonly parts?: readonly MediaPart[];
  /** Facts as a JSON object. They are also recorded at `narrative` fidelity (D7). Absent: none. */
  readonly metadata?: JsonObject;
  /**
   * The files that the call changed, with their contents before and after. They are recorded at `full` fidelity, and answer which call wrote
   * a line of a file. The model does not read them. Absent: not reported.
   */
  readonly changes?: readonly FileChange[];
  /**
   * The ids of the utterances from which the text was made. With one, the result carries the same content and names it as
   * `substance`. With several, the result is new content and names them as `cause` (S4). A session adds the failures of agents
   * that the tool let speak to the causes.
   */
  readonly madeFrom?: readonly string[];
}
