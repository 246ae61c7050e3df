import type { SessionKey, SessionStoreEntry, SessionSummaryEntry } from '@anthropic-ai/claude-agent-sdk';
import type { DispatchStore } from '@hansard/dispatch';
import {
  type CapturedEvent,
  isPlainObject,
  type JsonObject,
  parseEvent,
  timestampSchema,
  toTimestamp,
} from '@hansard/events';

/** The methods of an open Hansard store that a session store uses. */
export type SessionLog = Pick<
  DispatchStore,
  'beginDispatch' | 'openDispatch' | 'findDispatch' | 'getDispatchEnvelopes' | 'deleteDispatch'
>;

/** The last event of each batch: its session, and the summary that the SDK requests without reading the entries. */
export interface BatchNote extends SessionKey {
  /** When the batch was stored, in milliseconds since 1970; never earlier than the one before. */
  readonly mtime: number;
  /** `SessionSummaryEntry.data` of all entries so far: the SDK's own, kept as it is. Main transcripts have it. */
  readonly summary?: SessionSummaryEntry['data'];
}

const batchType = 'claude_session:batch';
const entryCategory = 'claude:';

/**
 * An entry is an event whose data is the entry, unchanged, under the type that the entry says. Its time is the entry's
 * own where it has one.
 * @throws EVENT_NOT_JSON where it holds what JSON can't
 */
export function entryEvent(entry: SessionStoreEntry, id: string, storedAt: number): CapturedEvent {
  const own = timestampSchema.safeParse(entry.timestamp);
  return parseEvent({
    id,
    type: `${entryCategory}${snakeCase(entry.type)}`,
    timestamp: own.success ? own.data : toTimestamp(storedAt),
    data: entry,
  });
}

export function batchEvent(note: BatchNote, id: string): CapturedEvent {
  return parseEvent({ id, type: batchType, timestamp: toTimestamp(note.mtime), data: withoutAbsent(note) });
}

/** The entry that an event holds; null for the events between entries. */
export function entryOf({ type, data }: CapturedEvent): SessionStoreEntry | null {
  return type.startsWith(entryCategory) ? (data as SessionStoreEntry) : null;
}

export function batchNoteOf({ type, data }: CapturedEvent): BatchNote | null {
  return type === batchType ? (data as unknown as BatchNote) : null;
}

/** Types without a letter share one name; the entry has the original. */
function snakeCase(type: unknown): string {
  const words = String(type)
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^[_0-9]+|_+$/g, '')
    .slice(0, 64);
  return words === '' ? 'entry' : words;
}

function withoutAbsent(note: BatchNote): JsonObject {
  const known = Object.entries(note).filter(([, value]) => value !== undefined);
  return Object.fromEntries(known) as JsonObject;
}

/** Refuses what no transcript holds, before anything is written. */
export function assertEntries(entries: readonly SessionStoreEntry[]): void {
  const wrong = entries.findIndex((entry) => !isPlainObject(entry));
  if (wrong >= 0)
    throw new TypeError(`entries[${wrong}] is not an object; append takes records of a transcript`);
}
