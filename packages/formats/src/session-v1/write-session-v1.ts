import type { CapturedEvent } from '@hansard/events';
import { type WrittenSession, writeSession } from '../session-records/writing/write-session.ts';
import { sessionV1Dialect } from './session-v1-dialect.ts';

/**
 * Writes events as a session log of the older dialect. Events from `readSessionV1` become the same records. A delivery of
 * an `agent:piece_of_text`, for which this dialect has no record, names the tool call as its cause.
 *
 * @throws EVENT_INVALID for a part of a transcript whose data has a shape that this version does not know
 */
export function writeSessionV1(events: readonly CapturedEvent[]): WrittenSession {
  return writeSession(sessionV1Dialect, events);
}
