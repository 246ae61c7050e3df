import type { JsonValue } from '@hansard/events';
import type { AgentInfo } from './agent-host.ts';
import type { Awaitable } from './awaitable.ts';
import type { ContractVersion } from './contract-version.ts';

/**
 * Decides about tool calls and deliveries before they happen. Hooks are asked in the order of the configuration. The first
 * denial is final; an alteration is passed to the next hook. Each decision except a plain `allow` is recorded as
 * `harness:hook_decision`. If a hook throws, the error is recorded and the hook is skipped; a `required` hook denies instead.
 */
export interface HookProvider {
  /** The version of this contract that the provider implements. */
  readonly contract: ContractVersion;
  /** Its name in the log. */
  readonly name: string;
  /** Whether a question is denied when this hook fails to decide. */
  readonly required?: boolean;
  decide(question: HookQuestion): Awaitable<HookDecision>;
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
  /** The agent that said it; absent: a person or the system. */
  readonly from?: string;
  /** The agent that would receive it. */
  readonly to: string;
  readonly text: string;
  readonly agents: readonly AgentInfo[];
}

export type HookDecision =
  | { readonly decision: 'allow' }
  | { readonly decision: 'deny'; readonly reason: string }
  /** `input` replaces a tool call's input, `text` a delivery's text. */
  | {
      readonly decision: 'alter';
      readonly reason?: string;
      readonly input?: JsonValue;
      readonly text?: string;
    };
