import { type JsonObject, preview } from '@hansard/events';
import { type RecordKind, smallchatKind } from './smallchat-form.ts';

export type SessionFormatId = 'session-v1' | 'session-v2' | 'smallchat';

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
  /** Keys that identify a log of another dialect. */
  readonly foreignKeys: readonly string[];
  /** How its first line is written, unless the log says otherwise. */
  readonly style: 'compact' | 'spaced-ascii';
  /** What follows each record. */
  readonly lineEnd: string;
}

const roles: ReadonlySet<unknown> = new Set(['system', 'user', 'assistant', 'tool']);

/** The kind of a record; null if the dialect does not have it. A missing `event_type` is accepted if the role is enough. */
export function recordKind(dialect: SessionDialect, record: JsonObject): RecordKind | null {
  if (dialect.id === 'smallchat') return smallchatKind(record);
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
export function unknownTypePrefix({ id }: SessionDialect): (typeof recordPrefixes)[SessionFormatId] {
  return recordPrefixes[id];
}

const recordPrefixes = {
  'session-v1': 'session_v1:',
  'session-v2': 'session_v2:',
  smallchat: 'smallchat:',
} as const;

/** Whether an event of this type is a record of an unknown kind of a dialect, or in smallchat a text of a person. */
export function isRecordType(type: string): boolean {
  return Object.values(recordPrefixes).some((prefix) => type.startsWith(prefix));
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
  style: 'compact',
  lineEnd: '\n',
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
  style: 'compact',
  lineEnd: '\n',
};

export const smallchatDialect: SessionDialect = {
  id: 'smallchat',
  kinds: ['agent_created', 'transcript_entry', 'piece_of_text', 'transcript_edit'],
  entryType: 'transcript_entry',
  substanceKey: 'substance',
  causeKey: 'cause',
  sourceKey: null,
  mayHaveBoth: false,
  foreignKeys: ['utterance_ref', 'caused_by', 'source', 'agent_id'],
  style: 'spaced-ascii',
  lineEnd: '\n\n',
};

/** Every dialect, by its id. */
export const sessionDialects: Readonly<Record<SessionFormatId, SessionDialect>> = {
  'session-v1': sessionV1Dialect,
  'session-v2': sessionV2Dialect,
  smallchat: smallchatDialect,
};
