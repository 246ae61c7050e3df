import { type JsonObject, preview } from '@hansard/events';

export type SessionFormatId = 'session-v1' | 'session-v2';

/** What a record says, whatever the dialect calls it. */
export type RecordKind = 'agent_created' | 'transcript_entry' | 'piece_of_text';

/** Where the dialects of the session log differ. */
export interface SessionDialect {
  readonly id: SessionFormatId;
  readonly kinds: readonly RecordKind[];
  /** The `event_type` of a transcript entry; null: it has none. */
  readonly entryType: string | null;
  readonly substanceKey: string;
  readonly causeKey: string;
  /** Where a user message says who sent it; null: nowhere. */
  readonly sourceKey: string | null;
  /** Whether what carries content on names that content as its cause, too. */
  readonly causeRepeatsSubstance: boolean;
  /** Keys by which a log of the other dialect is known. */
  readonly foreignKeys: readonly string[];
}

const roles: ReadonlySet<unknown> = new Set(['system', 'user', 'assistant', 'tool']);

/** Null: a kind that the dialect does not have. A missing `event_type` is forgiven where the role says enough. */
export function recordKind(dialect: SessionDialect, record: JsonObject): RecordKind | null {
  const { event_type: type, role } = record;
  if (type === undefined || type === 'transcript_entry') return roles.has(role) ? 'transcript_entry' : null;
  return dialect.kinds.find((kind) => kind === type) ?? null;
}

/** What shows that a record is of another dialect, or null. */
export function foreignTrait(dialect: SessionDialect, record: JsonObject): string | null {
  if (isForeignEntry(dialect, record)) {
    return record.event_type === undefined
      ? 'a message without event_type'
      : `event_type ${preview(record.event_type)}`;
  }
  return dialect.foreignKeys.find((key) => Object.hasOwn(record, key)) ?? null;
}

/** Whether a record is a transcript entry as only another dialect writes it. */
export function isForeignEntry(
  { entryType }: SessionDialect,
  { event_type: type, role }: JsonObject,
): boolean {
  if (!roles.has(role) || (type !== undefined && type !== 'transcript_entry')) return false;
  return (type ?? null) !== entryType;
}

/** What the types of events begin with that keep the records of a dialect whose kind it does not know. */
export function unknownTypePrefix({ id }: SessionDialect): 'session_v1:' | 'session_v2:' {
  return id === 'session-v1' ? 'session_v1:' : 'session_v2:';
}
