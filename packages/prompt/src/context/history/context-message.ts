import type { JsonValue, MediaPart } from '@hansard/events';
import type { TranscriptToolCall } from '../../transcript/transcript-message.ts';

/** An image, a document or a sound of a prompt. Its bytes are in the log, in the `content:stored` event with this digest. */
export interface ContextFile {
  readonly kind: MediaPart['kind'];
  readonly mediaType?: string;
  readonly sha256: string;
  readonly size?: number;
  readonly name?: string;
}

/**
 * One message of a prompt, in the shape of `ModelMessage` of `@hansard/provider`, but for the bytes of its files. Deeply frozen, and always with its keys in
 * this order, so that the same events give the same bytes.
 */
export type ContextMessage =
  | { readonly role: 'system'; readonly text: string }
  | { readonly role: 'user'; readonly text: string; readonly files?: readonly ContextFile[] }
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
      readonly files?: readonly ContextFile[];
    };
