import { type JsonObject, preview } from '@hansard/events';

export type SessionFormatId = 'session-v1' | 'session-v2';

/** The kind of a record, independent of the dialect. */
export type RecordKind = 'agent_created' | 'transcript_entry' | 'piece_of_text';

/** The differences between the dialects of the session log. */
export interface SessionDialect {
  readonly id: SessionFormatId;
  readonly kinds: readonly RecordKind[];
  /** The `event_type` of a transcript entry; null if it has none. */
  readonly entryType: string | null;
  readonly substanceKey: string;
  readonly causeKey: string;
  /** The key for the sender of a user message; null if there is none. */
  readonly sourceKey: string | null;
  /**
   * Whether a record has both links: the content that it carries, and the record that prompted it. If the content came
   * directly, both are the same.
   */
  readonly mayHaveBoth: boolean;
  /** Keys that identify a log of the other dialect. */
  readonly foreignKeys: readonly string[];
}

const roles: ReadonlySet<unknown> = new Set(['system', 'user', 'assistant', 'tool']);

/** The kind of a record; null if the dialect does not have it. A missing `event_type` is accepted if the role is enough. */
export function recordKind(dialect: SessionDialect, record: JsonObject): RecordKind | null {
  const { event_type: type, role } = record;
  if (type === undefined || type === 'transcript_entry') return roles.has(role) ? 'transcript_entry' : null;
  return dialect.kinds.find((kind) => kind === type) ?? null;
}

/** The part of a record that belongs to another dialect, or null. */
export function foreignTrait(dialect: SessionDialect, record: JsonObject): string | null {
  if (isForeignEntry(dialect, record)) {
    return record.event_type === undefined
      ? 'a message without event_type'
      : `event_type ${preview(record.event_type)}`;
  }
  return dialect.foreignKeys.find((key) => Object.hasOwn(record, key)) ?? null;
}

/** Whether a record is a transcript entry in the form of another dialect. */
export function isForeignEntry(
  { entryType }: SessionDialect,
  { event_type: type, role }: JsonObject,
): boolean {
  if (!roles.has(role) || (type !== undefined && type !== 'transcript_entry')) return false;
  return (type ?? null) !== entryType;
}

/** The prefix of the event types that keep records of an unknown kind. */
export function unknownTypePrefix({ id }: SessionDialect): 'session_v1:' | 'session_v2:' {
  return id === 'session-v1' ? 'session_v1:' : 'session_v2:';
}

/** Whether an event of this type is a record of an unknown kind of either dialect. */
export function isRecordType(type: string): boolean {
  return type.startsWith('session_v1:') || type.startsWith('session_v2:');
}

export const sessionV1Dialect: SessionDialect = {
  id: 'session-v1',
  kinds: ['agent_created', 'transcript_entry'],
  entryType: null,
  substanceKey: 'utterance_ref',
  causeKey: 'caused_by',
  sourceKey: 'source',
  mayHaveBoth: true,
  foreignKeys: ['substance', 'cause'],
};

export const sessionV2Dialect: SessionDialect = {
  id: 'session-v2',
  kinds: ['agent_created', 'transcript_entry', 'piece_of_text'],
  entryType: 'transcript_entry',
  substanceKey: 'substance',
  causeKey: 'cause',
  sourceKey: null,
  mayHaveBoth: false,
  foreignKeys: ['utterance_ref', 'caused_by', 'source'],
};
