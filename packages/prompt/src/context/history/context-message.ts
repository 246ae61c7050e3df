import type { JsonValue } from '@hansard/events';
import type { TranscriptToolCall } from '../../transcript/transcript-message.ts';

/** An image of a prompt, in the shape of `ModelImage` of `@hansard/provider`. */
export interface ContextImage {
  readonly mediaType: string;
  readonly base64: string;
}

/**
 * One message of a prompt, in the shape of `ModelMessage` of `@hansard/provider`. Deeply frozen, and always with its keys in
 * this order, so that the same events give the same bytes.
 */
export type ContextMessage =
  | { readonly role: 'system'; readonly text: string }
  | { readonly role: 'user'; readonly text: string; readonly images?: readonly ContextImage[] }
  | {
      readonly role: 'assistant';
      readonly text: string;
      readonly toolCalls: readonly TranscriptToolCall[];
      readonly thinking?: string;
      readonly replay?: JsonValue;
    }
  | {
      readonly role: 'tool';
      readonly toolCallId: string;
      readonly tool: string;
      readonly text: string;
      readonly isError: boolean;
    };
