import type { CapturedEvent } from '@hansard/events';
import type { TranscriptMessage } from '@hansard/prompt';
import { references } from './id-text.ts';
import type { SessionEntry, SessionReading } from './session-reading.ts';

interface UnwrittenPiece {
  readonly id: string;
  /** The piece itself, the first time; null if an earlier message has it. */
  readonly event: CapturedEvent | null;
}

/**
 * The text that a call delivered to the receiver of a message, in a dialect without pieces of text. Messages share it if
 * they name the same call as their cause and have the same text: the call links them, and their text only distinguishes the
 * texts of one call. A message that names several calls does not say which one made its text, so it has no piece. Null for any other message.
 */
export function unwrittenPiece(
  { dialect, names, timestamp, pieces }: SessionReading,
  { id, record }: SessionEntry,
  { source, content }: TranscriptMessage,
): UnwrittenPiece | null {
  if (dialect.kinds.includes('piece_of_text') || references(record[dialect.substanceKey]).length > 0)
    return null;
  const [reference, ...others] = references(record[dialect.causeKey]);
  const call = reference === undefined ? undefined : names.definitionOf(reference)?.record;
  const isOneCall =
    call?.role === 'assistant' && Array.isArray(call.tool_calls) && call.tool_calls.length === 1;
  const caller = names.agentId(call?.agent_id);
  const isTheirs = source?.kind === 'agent' && source.agentId === caller;
  if (reference === undefined || others.length > 0 || !isOneCall || !isTheirs || content === null)
    return null;
  const key = JSON.stringify([reference, content]);
  const known = pieces.get(key);
  if (known !== undefined) return { id: known, event: null };
  const event: CapturedEvent = {
    id: names.newId(`${id}:text`),
    type: 'agent:piece_of_text',
    timestamp,
    ...(caller === undefined ? {} : { agentId: caller }),
    cause: names.refer(reference),
    // It has no record of its own.
    data: { text: content, record: null },
  };
  pieces.set(key, event.id);
  return { id: event.id, event };
}
