import type { TranscriptToolCall } from '../../transcript/transcript-message.ts';

/**
 * One message of what a model is given; the same shape as `ModelMessage` of `@hansard/provider`. Frozen, inside too, and
 * always with its keys in this order, so that the same events give the same bytes.
 */
export type ContextMessage =
  | { readonly role: 'system' | 'user'; readonly text: string }
  | { readonly role: 'assistant'; readonly text: string; readonly toolCalls: readonly TranscriptToolCall[] }
  | {
      readonly role: 'tool';
      readonly toolCallId: string;
      readonly tool: string;
      readonly text: string;
      readonly isError: boolean;
    };
