import type { CapturedEvent } from '@hansard/events';
import { type WrittenSession, writeSession } from '../session-records/writing/write-session.ts';
import { sessionV2Dialect } from './session-v2-dialect.ts';

/**
 * Writes events as a session log. Events from `readSessionV2` become the same records. Events that a session log cannot
 * hold are left out and counted.
 *
 * @throws EVENT_INVALID for a part of a transcript whose data has a shape that this version does not know
 */
export function writeSessionV2(events: readonly CapturedEvent[]): WrittenSession {
  return writeSession(sessionV2Dialect, events);
}
