import type { ContextPolicy } from './context-policy.ts';
import type { Detail } from './history/detail.ts';

/**
 * The version of the rendering: the same version, policy and events give the same bytes. A message that arrived during a call comes after
 * the answer to that call.
 */
export const contextRendererVersion = 1;

/**
 * A description of the prompt of one call: enough to render it again to the same bytes. Its size does not grow with the
 * log. Recorded as `context` of `agent:inference`.
 */
export interface ContextManifest {
  readonly rendererVersion: typeof contextRendererVersion;
  readonly policy: ContextPolicy;
  /** The id of the last event of the agent that the prompt includes; null: none. */
  readonly through: string | null;
  readonly messages: number;
  /** Counted by the counter with this id: each text, plus four for each message and tool call. Null: not counted. */
  readonly tokens: { readonly counter: string; readonly prompt: number } | null;
  /** In the order of the prompt, without empty parts. */
  readonly parts: readonly ContextPart[];
  /** The number of messages that the prompt does not show; a count of 0 is absent. */
  readonly omitted: {
    /** Too old for the policy. */
    readonly old?: number;
    /** Observed before the last action. */
    readonly supersededOutput?: number;
    /** Replaced by the summary of a compaction. */
    readonly compacted?: number;
  };
  /** The beginning that is unchanged since the previous call of the same renderer. */
  readonly prefix: {
    readonly messages: number;
    readonly tokens?: number;
    /** From 0 to 1: of the tokens, or of the messages if tokens are not counted. */
    readonly share: number;
    readonly hash: string;
  };
  /** `sha256:` and the hash of the messages as JSON lines, each followed by a line feed. */
  readonly hash: string;
}

/** Consecutive messages at one level of detail. All system prompts are one part, wherever they are in the prompt. */
export interface ContextPart {
  readonly kind: 'systemPrompts' | 'summary' | 'messages';
  readonly detail: Detail;
  readonly messages: number;
  readonly tokens?: number;
  /** The id of the first event of its first message. */
  readonly first: string;
  /** The id of the first event of its last message. */
  readonly last: string;
}
