import type { CapturedEvent, EventData, JsonValue } from '@hansard/events';

/** One message of an agent's transcript, as a model sees it. What stands for its default is left out. */
export interface TranscriptMessage {
  readonly role: 'system' | 'user' | 'assistant' | 'tool';
  /** Null: none, as in an assistant message of tool calls only. A system or user message always has some. */
  readonly content: string | null;
  /** Of an assistant message only. */
  readonly thinking?: { readonly text: string; readonly signature?: string };
  /** Of an assistant message only; absent: none. */
  readonly toolCalls?: readonly TranscriptToolCall[];
  /** Of a tool message, which always has it: the call that this answers. */
  readonly toolCallId?: string;
  /** Of a tool message: the tool's name, where it is known. */
  readonly tool?: string;
  /** Of a tool message; absent: false. */
  readonly isError?: boolean;
  /** Of a user message; absent: `{ kind: 'user' }`. */
  readonly source?: EventData<'user:message'>['source'];
}

export interface TranscriptToolCall {
  readonly toolCallId: string;
  readonly tool: string;
  readonly input: JsonValue;
}

/** What the events of a message have beside what the message says. */
export interface MessageFields {
  /** The id of the message and of its first event; the others are `ID.1`, `ID.2` … */
  readonly id: string;
  /** '' for the dispatched agent itself. */
  readonly agentId: string;
  readonly timestamp?: string;
  readonly substance?: string;
  readonly cause?: string | readonly string[];
  readonly via?: string;
}

/** A message with where it stands in the log. */
export interface TranscriptEntry {
  /** The id of its event where the event names no message. */
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
