import type { JsonValue } from '@hansard/events';
import type { AgentInfo } from './agent-host.ts';
import type { Awaitable } from './awaitable.ts';
import type { ContractVersion } from './contract-version.ts';

/**
 * Decides about tool calls and deliveries before they happen.
 *
 * The callers are runs of `@hansard/dispatch`, which ask about tool calls, and sessions of `@hansard/session`, which also ask about
 * deliveries from agent to agent. What a hook may assume:
 * - The hooks of a question are asked one after the other, in the order of the configuration. The first denial is final; an
 *   alteration is passed to the next hook.
 * - Each question is a copy that only this hook has.
 *
 * What it must do:
 * - Answer with a {@link HookDecision}. Each decision except a plain `allow` is recorded as `harness:hook_decision`, not later
 *   than the call or the delivery.
 * - Accept several questions at the same time: calls and agents run in parallel.
 * - Leave the objects of its decision unchanged afterwards; the tool receives the `input` of an alteration itself.
 * - Decide soon. There is no time limit for a decision: a question waits until the dispatch or the session is stopped, and
 *   then the call is not made.
 *
 * What it may throw: any error. It is recorded as `harness:error`, and the hook is skipped: the other hooks decide (*fail open*).
 * With `required: true` the question is denied instead (*fail closed*). The same happens with what is not a decision, such as a
 * denial without a reason.
 */
export interface HookProvider {
  /** The version of this contract that the provider implements. */
  readonly contract: ContractVersion;
  /** Its name in the log and in the reason that a denied agent reads. Two hooks should not have one name. */
  readonly name: string;
  /** Whether a question is denied when this hook fails to decide. Absent: false. A hook that protects something sets it. */
  readonly required?: boolean;
  /** Decides about one question. It gets no signal: if the dispatch is stopped meanwhile, its decision is ignored. */
  decide(question: HookQuestion): Awaitable<HookDecision>;
  /** Releases what the hook holds. Called by its owner when no question is open; a second call does nothing. */
  close?(): Awaitable<void>;
}

export type HookQuestion = ToolCallQuestion | DeliveryQuestion;

/** May this call be made? */
export interface ToolCallQuestion {
  readonly on: 'tool_call';
  readonly dispatchId: string;
  /** The agent that makes the call; absent: the dispatched agent. */
  readonly agentId?: string;
  readonly toolCallId: string;
  readonly tool: string;
  readonly input: JsonValue;
  /** Every agent of the session so far; empty if the call does not come from a session. */
  readonly agents: readonly AgentInfo[];
}

/** May this text reach that agent? */
export interface DeliveryQuestion {
  readonly on: 'delivery';
  readonly dispatchId: string;
  /** The agent that said it. Absent: a person or the system; a session does not ask about their messages. */
  readonly from?: string;
  /** The agent that would receive it. */
  readonly to: string;
  readonly text: string;
  readonly agents: readonly AgentInfo[];
}

export type HookDecision =
  | { readonly decision: 'allow' }
  /** `reason` is for the agent: it reads it in place of the result of its call. */
  | { readonly decision: 'deny'; readonly reason: string }
  /** `input` (JSON) replaces the input of a tool call, `text` the text of a delivery. An alteration without it is an error. */
  | {
      readonly decision: 'alter';
      readonly reason?: string;
      readonly input?: JsonValue;
      readonly text?: string;
    };
