import { isPlainObject, type JsonObject, type JsonValue } from '@hansard/events';
import type { ReadingCounts } from '../claude-log.ts';
import { PrefixChecksum } from '../lines/read-lines.ts';
import type { MappingFacts } from '../map/transcript-mapping.ts';

/** A file of a session. */
export interface SessionFile {
  readonly path: string;
  /** The path from the folder of the session's file. */
  readonly name: string;
  readonly bytes: number;
  /** Milliseconds since 1970. */
  readonly modifiedAt: number;
  /** For the file of a sub-agent: the prefix of the ids of records without an id. */
  readonly prefix?: string;
  /** Of a sub-agent's file, the id by which records name the agent. */
  readonly agentId?: string;
  readonly startsAt: number;
  readonly meta: JsonObject;
  /** Why the metadata file beside a sub-agent's transcript was not read. */
  readonly metaProblem?: string;
  /** The error of an unreadable file. */
  readonly problem?: unknown;
}

/** Whether a value is a record of a transcript, and not a message nested in one, which does not name a session. */
export function isTranscriptRecord(value: JsonValue): boolean {
  if (!isPlainObject(value) || typeof value.type !== 'string') return false;
  return ['sessionId', 'parentUuid', 'leafUuid', 'snapshot'].some((key) => Object.hasOwn(value, key));
}

/** Changes with each change of the mapping, because a session is continued only by the mapping that began it. */
export const keptVersion = 3;

/**
 * What a reading needs to continue an earlier one: places in the files, ids and counts, but no content. JSON, because it is
 * kept in the envelope of the dispatch.
 */
export interface KeptReading {
  readonly version: typeof keptVersion;
  /** The session, if its file begins with records of another one. */
  readonly continuation: string | null;
  readonly files: readonly KeptFile[];
  /** The lines that may still matter, in the order in which they were read: file, bytes before the line, lines before it. */
  readonly lines: readonly (readonly [file: number, offset: number, line: number])[];
  readonly facts: MappingFacts;
  readonly counts: ReadingCounts;
  readonly model: string | null;
  /** Sub-agents that have reported, whose lines are not among `lines`. */
  readonly lostAgents: readonly string[];
  /** Calls without a result. */
  readonly openCalls: readonly string[];
  /** Messages that are not counted yet, each as agent and message. */
  readonly openMessages: readonly string[];
  /** The events that were written because the session ended there, which its rest gives again: ids and checksums. */
  readonly ended: readonly (readonly [id: string, checksum: number])[];
}

export interface KeptFile {
  /** The path from the folder of the session's file. */
  readonly name: string;
  /** How many bytes were read, and the checksum of them. */
  readonly bytes: number;
  readonly checksum: number;
  /** The time of the last change before the reading, in milliseconds since 1970. */
  readonly modifiedAt: number;
  /** Where reading continues: bytes and lines before that line, and how many of its parts were mapped. */
  readonly offset: number;
  readonly line: number;
  readonly parts: number;
  readonly linesRead: number;
  /** Times in milliseconds since 1970; null: none. */
  readonly horizon: number | null;
  readonly clock: number;
  readonly latest: number;
  readonly latestPrompt: number | null;
  readonly latestUuid: string | null;
  readonly conversation: string | null;
}

/** What was kept, if this version of the mapping kept it. */
export function asKeptReading(value: JsonValue): KeptReading | null {
  const isKept = isPlainObject(value) && (value as JsonObject).version === keptVersion;
  return isKept ? (value as unknown as KeptReading) : null;
}

/** Whether a file has nothing new: its size and its time are those of the earlier reading. */
export function isUnchanged({ bytes, modifiedAt }: KeptFile, file: SessionFile): boolean {
  return file.bytes === bytes && file.modifiedAt === modifiedAt;
}

/** The numbers of the kept files among these, if each is as it was or has grown; otherwise null. */
export function findKept(kept: KeptReading, files: readonly SessionFile[]): number[] | null {
  const found = kept.files.map((file) => files.findIndex(({ name }) => name === file.name));
  const isWhole = kept.files.every((before, at) => {
    const file = files[found[at] ?? -1];
    if (file === undefined || file.bytes < before.bytes) return false;
    if (before.bytes > 0 && file.problem !== undefined) return false;
    return (
      isUnchanged(before, file) || new PrefixChecksum(before.bytes, before.checksum).isStartOf(file.path)
    );
  });
  return isWhole ? found : null;
}
