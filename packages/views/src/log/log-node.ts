import type { CapturedEvent } from '@hansard/events';
import type { TranscriptEntry, TranscriptMessage } from '@hansard/prompt';

/** An event of an indexed log and its position in it. The lookups of `LogIndex` take and return it. */
export interface LogNode<E extends CapturedEvent = CapturedEvent> {
  readonly event: E;
  readonly position: number;
}

/** A message of a transcript and its blocks. */
export interface LogMessage {
  readonly entry: TranscriptEntry;
  /** In the order of the log, at least one. */
  readonly blocks: readonly LogNode[];
  /** The block that references to the message mean: its first tool call, otherwise its first text, otherwise its first block. */
  readonly main: LogNode;
}

/** What a message says, without the markup of its engine; '' if nothing. */
export function wordsIn({ said, content }: TranscriptMessage): string {
  return said ?? content ?? '';
}

/** Whether a message is an utterance: an answer with text and without tool calls. */
export function isUtterance({ entry: { message } }: LogMessage): boolean {
  return message.role === 'assistant' && message.toolCalls === undefined && Boolean(message.content);
}
