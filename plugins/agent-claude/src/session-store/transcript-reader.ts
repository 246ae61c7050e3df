import type { SessionStoreEntry } from '@anthropic-ai/claude-agent-sdk';
import { type BatchNote, batchNoteOf, entryOf } from './session-events.ts';
import type { SessionLog } from './session-log.ts';
import type { DispatchName } from './transcript-place.ts';

/** Every entry of a transcript in order; null where it has none. */
export async function readEntries(log: SessionLog, place: DispatchName): Promise<SessionStoreEntry[] | null> {
  const { taskDir, dispatchId } = place;
  if ((await log.getDispatchEnvelope(taskDir, dispatchId)) === null) return null;
  const entries: SessionStoreEntry[] = [];
  for await (const { event } of (await log.openDispatch(taskDir, dispatchId)).events()) {
    const entry = entryOf(event);
    if (entry !== null) entries.push(entry);
  }
  return entries.length === 0 ? null : entries;
}

/**
 * What the last batch of a transcript noted. It is the last event, unless somebody else appended to the dispatch: then
 * it is looked for further back, twice as far each time. Null where there is none.
 */
export async function readNote(
  log: SessionLog,
  { taskDir, dispatchId }: DispatchName,
): Promise<BatchNote | null> {
  for (let count = 1; ; count *= 2) {
    const events = await log.getRecentEvents(taskDir, dispatchId, count);
    for (const event of events.toReversed()) {
      const note = batchNoteOf(event);
      if (note !== null) return note;
    }
    if (events.length < count) return null;
  }
}
