import type { JsonValue } from '@hansard/events';
import type { AgentInfo } from './agent-host.ts';
import type { Awaitable } from './awaitable.ts';

/**
 * Decides on what agents are about to do or hear. Hooks are asked in the order of the configuration; the first denial
 * ends the asking, and an alteration is what the next hook sees. Each decision but a plain `allow` is recorded as
 * `harness:hook_decision`. A hook that throws is recorded and counts as having no opinion, unless it is `required`.
 */
export interface HookProvider {
  /** Its name in the log. */
  readonly name: string;
  /** Whether what it could not decide on is denied. */
  readonly required?: boolean;
  decide(question: HookQuestion): Awaitable<HookDecision>;
  close?(): Awaitable<void>;
}

export type HookQuestion = ToolCallQuestion | DeliveryQuestion;

/** May this call be made? */
export interface ToolCallQuestion {
  readonly on: 'tool_call';
  readonly dispatchId: string;
  /** Whose call it is; absent: the dispatched agent. */
  readonly agentId?: string;
  readonly toolCallId: string;
  readonly tool: string;
  readonly input: JsonValue;
  /** Every agent of the session so far; empty where the call does not come from a session. */
  readonly agents: readonly AgentInfo[];
}

/** May this text reach that agent? */
export interface DeliveryQuestion {
  readonly on: 'delivery';
  readonly dispatchId: string;
  /** The agent who said it; absent: a person or the system. */
  readonly from?: string;
  /** The agent who is to hear it. */
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
