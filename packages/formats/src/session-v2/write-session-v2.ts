import type { CapturedEvent } from '@hansard/events';
import { type WrittenSession, writeSession } from '../session-records/write-session.ts';
import { sessionV2Dialect } from './session-v2-dialect.ts';

/**
 * Writes events as a session log. What `readSessionV2` read becomes the same records, and a session that Hansard
 * recorded the records that it stands for; what they have no place for is left out and counted.
 *
 * @throws EVENT_INVALID for a part of a transcript whose data has a shape that this version does not know
 */
export function writeSessionV2(events: readonly CapturedEvent[]): WrittenSession {
  return writeSession(sessionV2Dialect, events);
}
