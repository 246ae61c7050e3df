import type { CapturedEvent } from '@hansard/events';
import { createTranscriptGatherer } from './gather-transcripts.ts';
import type { TranscriptEntry } from './transcript-message.ts';

/**
 * The transcripts that events hold, of all agents in the order of their messages' first blocks. The blocks of an answer
 * belong together by agent and message, whatever stands between them; everything else that entered a transcript is a
 * message of its own. Events that are no part of a transcript are passed over.
 *
 * @throws EVENT_INVALID for a part of a transcript whose data has a shape that this version does not know
 */
export function putTogether(events: Iterable<CapturedEvent>): TranscriptEntry[] {
  const transcripts = createTranscriptGatherer();
  for (const event of events) transcripts.add(event);
  return transcripts.entries;
}
