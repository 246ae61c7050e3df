import type { CapturedEvent } from '@hansard/events';
import type { TranscriptMessage } from '@hansard/views';
import { references } from './id-text.ts';
import type { SeenCall, SessionEntry, SessionReading } from './session-reading.ts';

/**
 * The substance of a tool result whose record does not name it: the only utterance of another agent since the call with
 * the same text that no result of the call carries yet. Undefined if there are several.
 */
export function unwrittenSubstance(
  { dialect, utterances }: SessionReading,
  { record, agentId }: SessionEntry,
  call: SeenCall | undefined,
  text: string | null,
): string | undefined {
  const isWritten = [dialect.substanceKey, dialect.causeKey].some(
    (key) => references(record[key]).length > 0,
  );
  if (isWritten || call === undefined || text === null) return undefined;
  const [said, ...others] = (utterances.get(text) ?? []).filter(
    (utterance) =>
      utterance.line > call.line && utterance.agentId !== agentId && !utterance.resultsOf.has(call.eventId),
  );
  if (said === undefined || others.length > 0) return undefined;
  said.resultsOf.add(call.eventId);
  return said.id;
}

interface UnwrittenPiece {
  readonly id: string;
  /** The piece itself, the first time; null if an earlier message has it. */
  readonly event: CapturedEvent | null;
}

/**
 * The text that a call delivered to the receiver of a message, in a dialect without pieces of text. Messages of one call
 * with the same text share it. Null for any other message.
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
  const isCall = Array.isArray(call?.tool_calls) && call.tool_calls.length > 0;
  const caller = names.agentId(call?.agent_id);
  const isTheirs = source?.kind === 'agent' && source.agentId === caller;
  if (reference === undefined || others.length > 0 || !isCall || !isTheirs || content === null) return null;
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
