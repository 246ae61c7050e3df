import type { ContextPolicy } from './context-policy.ts';
import type { Detail } from './history/detail.ts';

/**
 * The versions of the rendering: the same version, policy and events give the same bytes. Version 1 keeps the order of
 * the log; since version 2, what arrived while a call was in flight comes after the answer to that call.
 */
export const contextRendererVersions = [1, 2] as const;

export type ContextRendererVersion = (typeof contextRendererVersions)[number];

/** The version of what is rendered now. */
export const contextRendererVersion = 2 satisfies ContextRendererVersion;

/**
 * What a model was given in one call: enough to render it again to the same bytes, in a size that does not grow with the
 * log. Recorded as `context` of `agent:inference`.
 */
export interface ContextManifest {
  readonly rendererVersion: ContextRendererVersion;
  readonly policy: ContextPolicy;
  /** The last event of the agent that went into it; null: none. */
  readonly through: string | null;
  readonly messages: number;
  /** As this counter counts them: each text, and four for each message and tool call. Null: not counted. */
  readonly tokens: { readonly counter: string; readonly prompt: number } | null;
  /** In the order of the prompt; what is empty is left out. */
  readonly parts: readonly ContextPart[];
  /** Messages that the prompt does not show; what is 0 is left out. */
  readonly omitted: {
    /** Too old for the policy. */
    readonly old?: number;
    /** Observed before the last action. */
    readonly supersededOutput?: number;
    /** What the summary of a compaction stands for. */
    readonly compacted?: number;
  };
  /** How much of it, from the beginning, is as it was in the call before by the same renderer. */
  readonly prefix: {
    readonly messages: number;
    readonly tokens?: number;
    /** From 0 to 1, of the tokens, or of the messages where no tokens were counted. */
    readonly share: number;
    readonly hash: string;
  };
  /** `sha256:` and the hash of the messages as JSON lines, each ended by a line feed. */
  readonly hash: string;
}

/** A run of messages at one detail. System prompts are one part, wherever they stand. */
export interface ContextPart {
  readonly kind: 'systemPrompts' | 'summary' | 'messages';
  readonly detail: Detail;
  readonly messages: number;
  readonly tokens?: number;
  /** The first event of its first message. */
  readonly first: string;
  /** The first event of its last message. */
  readonly last: string;
}
