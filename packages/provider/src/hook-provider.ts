import type { JsonValue } from '@hansard/events';
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

export type HookQuestion =
  | {
      readonly on: 'tool_call';
      readonly dispatchId: string;
      readonly agentId?: string;
      readonly toolCallId: string;
      readonly tool: string;
      readonly input: JsonValue;
    }
  | {
      readonly on: 'delivery';
      readonly dispatchId: string;
      readonly from?: string;
      readonly to: string;
      readonly text: string;
    };

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
