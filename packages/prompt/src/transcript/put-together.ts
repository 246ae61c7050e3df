import type { CapturedEvent } from '@hansard/events';
import { createTranscriptGatherer } from './gather-transcripts.ts';
import type { TranscriptEntry } from './transcript-message.ts';

/**
 * The transcript messages of all agents, in the order of their first blocks. Blocks of an answer are joined by agent and
 * message id, whatever events are between them. Each other part of a transcript is a message of its own. Events that are
 * not part of a transcript are ignored.
 *
 * @throws EVENT_INVALID for a part of a transcript whose data has a shape that this version does not know
 */
export function putTogether(events: Iterable<CapturedEvent>): TranscriptEntry[] {
  const transcripts = createTranscriptGatherer();
  for (const event of events) transcripts.add(event);
  return transcripts.entries;
}
