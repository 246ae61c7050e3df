import type { CapturedEvent, ContentPart, EventData, JsonObject, JsonValue } from '@hansard/events';

/** The tool of a result whose transcript does not know the name of the tool: an event always has one, so it is marked. */
export const unknownTool: { readonly tool: string; readonly metadata: JsonObject } = {
  tool: '?',
  metadata: { tool: null },
};

/** One message of an agent's transcript, as a model sees it. A property with its default value is absent. */
export interface TranscriptMessage {
  readonly role: 'system' | 'user' | 'assistant' | 'tool';
  /** Null: none, as in an assistant message with tool calls only. A system or user message always has content. */
  readonly content: string | null;
  /** Of an assistant message only. */
  readonly thinking?: { readonly text: string; readonly signature?: string };
  /** Of an assistant message only; absent: none. */
  readonly toolCalls?: readonly TranscriptToolCall[];
  /** Required in a tool message: the id of the call that it answers. */
  readonly toolCallId?: string;
  /** Of a tool message: the name of the tool, if it is known. */
  readonly tool?: string;
  /** Of a tool message; absent: false. */
  readonly isError?: boolean;
  /** Of a user message; absent: `{ kind: 'user' }`. */
  readonly source?: EventData<'user:message'>['source'];
  /** Of a user message: its content without the markup of the engine. Absent: the content has none. */
  readonly said?: string;
  /** Of a user message: what is attached to its content. Absent: nothing. */
  readonly parts?: readonly ContentPart[];
}

export interface TranscriptToolCall {
  readonly toolCallId: string;
  readonly tool: string;
  readonly input: JsonValue;
}

/** The fields of the events of a message that are not in the message. */
export interface MessageFields {
  /** The id of the message and of its first event; the others are `ID.1`, `ID.2` … */
  readonly id: string;
  /** '' for the dispatched agent itself. */
  readonly agentId: string;
  readonly timestamp?: string | null;
  readonly substance?: string;
  readonly cause?: string | readonly string[];
  readonly via?: string;
}

/** A message, its events and its links. */
export interface TranscriptEntry {
  /** The `messageId` of its first event, otherwise the id of that event. */
  readonly messageId: string;
  /** '' for the dispatched agent itself. */
  readonly agentId: string;
  readonly message: TranscriptMessage;
  /** Its blocks, in the order of the log. */
  readonly events: readonly CapturedEvent[];
  readonly substance?: string;
  readonly cause?: readonly string[];
  readonly via?: string;
}

export function isToolUnknown({ metadata }: { readonly metadata: JsonObject }): boolean {
  return metadata.tool === null;
}
