import type { SessionStoreEntry } from '@anthropic-ai/claude-agent-sdk';
import type { DispatchLog, DispatchRef } from '@hansard/dispatch';
import { type BatchNote, batchNoteOf, entryOf } from './session-events.ts';
import type { SessionLog } from './session-log.ts';

/** Every entry of a transcript in order; null for a transcript without entries. */
export async function readEntries(
  store: SessionLog,
  transcript: DispatchRef,
): Promise<SessionStoreEntry[] | null> {
  const log = await store.findDispatch(transcript);
  if (log === null) return null;
  const entries: SessionStoreEntry[] = [];
  for await (const { event } of log.events()) {
    const entry = entryOf(event);
    if (entry !== null) entries.push(entry);
  }
  return entries.length === 0 ? null : entries;
}

/**
 * The note of the last batch of a transcript; null if there is none. The note is the last event, unless another program
 * appended to the dispatch. Each attempt looks back twice as far as the one before.
 */
export async function readNote(log: DispatchLog): Promise<BatchNote | null> {
  for (let count = 1; ; count *= 2) {
    const { events } = await log.last(count);
    for (const event of events.toReversed()) {
      const note = batchNoteOf(event);
      if (note !== null) return note;
    }
    if (events.length < count) return null;
  }
}
