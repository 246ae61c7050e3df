import type { CapturedEvent } from '@hansard/events';
import type { TranscriptEntry } from '../transcript/transcript-message.ts';
import type { GatheredSaying, Hearing } from './saying.ts';

/** An event of an indexed log with what is known about it. */
export interface LogNode {
  readonly event: CapturedEvent;
  readonly position: number;
  /** The message that it is a block of. */
  message: LogMessage | null;
  /** The call that a tool result answers, or that a hook decided on: the latest of its agent with that id. */
  call: LogNode | null;
  /** What a delivery carries on: as recorded; of what is not in this log, its first delivery. */
  substance: LogNode | null;
  /** The saying that it is, or is a delivery of. */
  saying: GatheredSaying | null;
  /** How what it delivers reached its agent. */
  hearing: Hearing | null;
}

/** A message of a transcript with its blocks. */
export interface LogMessage {
  readonly entry: TranscriptEntry;
  readonly blocks: readonly LogNode[];
  /** The block that it is known by: what was said, or else the first call. */
  main: LogNode;
}

/** Whether a message is said to others: an answer without tool calls that says something. */
export function isUtterance({ entry: { message } }: LogMessage): boolean {
  return message.role === 'assistant' && message.toolCalls === undefined && Boolean(message.content);
}

/** Whether a block is one by which its message acts. Thinking is where there is nothing else. */
export function isActing({ event, message }: LogNode): boolean {
  if (event.type !== 'agent:thinking' || message === null) return true;
  const { content, toolCalls } = message.entry.message;
  return content === null && toolCalls === undefined;
}
