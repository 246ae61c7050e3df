import type { JsonValue } from '@hansard/events';
import type { TranscriptToolCall } from '../../transcript/transcript-message.ts';

/**
 * One message of a prompt, in the shape of `ModelMessage` of `@hansard/provider`. Deeply frozen, and always with its keys in
 * this order, so that the same events give the same bytes.
 */
export type ContextMessage =
  | { readonly role: 'system' | 'user'; readonly text: string }
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
