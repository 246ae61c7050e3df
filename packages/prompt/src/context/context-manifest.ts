import type { CapturedEvent } from '@hansard/events';
import { defineErrors } from '@hansard/events/plain';
import type { ContextPolicy } from './context-policy.ts';
import type { Detail } from './history/detail.ts';

/** The errors of context rendering. */
export const contextErrors = defineErrors('context', {
  CONTEXT_BUDGET_TOO_SMALL: {
    when: 'The system prompts and the newest message of an agent take more tokens than the budget of its `faded` context minus its reserve. The model is not asked.',
    advice: 'Raise the budget to the number in the message, or lower the reserve.',
    details: ['budget', 'reserve', 'needed', 'systemPrompts', 'newest'],
  },
  CONTEXT_MANIFEST_UNKNOWN: {
    when: 'The recorded context of a model call cannot be rendered again: another version wrote it, its token counter is not available, or the log lacks an event that it names.',
    advice:
      'Use the version that recorded it, or give that counter; `hansard context SESSION EVENT --policy full` shows what the model could have seen.',
    details: ['eventId?', 'counter?'],
  },
});

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

/**
 * The manifest that was recorded with a model call (`agent:inference`), or null if it has none.
 *
 * @throws CONTEXT_MANIFEST_UNKNOWN for a manifest of another version, or a value that is not a manifest
 */
export function readContextManifest(inference: CapturedEvent): ContextManifest | null {
  const { context } = inference.data;
  if (context === undefined) return null;
  const manifest = context as unknown as Partial<ContextManifest> | null;
  const isKnown = manifest?.rendererVersion === contextRendererVersion;
  if (manifest !== null && isKnown && isWhole(manifest)) return manifest;
  throw contextErrors.error(
    'CONTEXT_MANIFEST_UNKNOWN',
    `The context of ${inference.id} was rendered by version ${JSON.stringify(manifest?.rendererVersion)}, and this version of Hansard knows version ${contextRendererVersion}: it can't be rendered again to the same bytes. Use the version of Hansard that recorded it.`,
    { details: { eventId: inference.id } },
  );
}

function isWhole(manifest: Partial<ContextManifest>): manifest is ContextManifest {
  const { policy, through, messages, tokens, parts, omitted, prefix, hash } = manifest;
  return (
    typeof policy?.name === 'string' &&
    (typeof through === 'string' || through === null) &&
    typeof messages === 'number' &&
    (tokens === null || typeof tokens?.prompt === 'number') &&
    Array.isArray(parts) &&
    typeof omitted === 'object' &&
    typeof prefix?.share === 'number' &&
    typeof hash === 'string'
  );
}
