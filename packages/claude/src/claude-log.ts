import { hash } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { basename, extname } from 'node:path';
import {
  type CapturedEvent,
  type DispatchStatus,
  type Fidelity,
  formatErrors,
  type JsonObject,
  type JsonValue,
  type SourceBalance,
} from '@hansard/events';
import type { ClaudeDiagnostic, DiagnosticCounts } from './lines/claude-diagnostic.ts';
import { asName, asObject, recordedTime } from './lines/json-fields.ts';
import { readParts } from './lines/log-parts.ts';
import type { IsRecord } from './lines/split-records.ts';
import type { OpenCallEvent } from './map/inferences.ts';
import type { OpenRewind } from './map/transcript-branches.ts';

const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const timeLength = 10;
const restLength = 16;

/**
 * The id of an imported dispatch: a ULID derived from its start (milliseconds since 1970) and its name, so that a second
 * import finds the first one.
 */
export function dispatchIdOf(name: string, time: number): string {
  const digest = hash('sha256', name, 'hex').slice(0, 20);
  return (
    digits(BigInt(Math.max(0, Math.floor(time))), timeLength) + digits(BigInt(`0x${digest}`), restLength)
  );
}

/** The id of the dispatch of a Claude Code session, or of a sub-agent's part of it. */
export function dispatchOfSession(session: string): string {
  return dispatchIdOf(`claude-code\n${session}`, 0);
}

function digits(value: bigint, length: number): string {
  let text = '';
  for (let rest = value; text.length < length; rest >>= 5n) text = `${alphabet[Number(rest & 31n)]}${text}`;
  return text;
}

/** Facts from the start of a file. They stay the same when the file grows. */
export interface LogHead {
  readonly path: string;
  readonly bytes: number;
  /** Milliseconds since 1970. */
  readonly modifiedAt: number;
  readonly sessionId: string | null;
  readonly agentId: string | null;
  readonly cwd: string | null;
  /** The first time of the session itself, in milliseconds since 1970. Null: no record has one. */
  readonly startedAt: number | null;
  /**
   * Where the file is among others, in milliseconds since 1970: its first time, which is earlier than `startedAt` if the file begins with
   * records of another session. Without any time, when the file was written.
   */
  readonly firstTime: number;
  readonly hasTime: boolean;
  readonly dispatchId: string;
  /** Null unless the file begins with records of another session. */
  readonly continues: ContinuedSession | null;
}

/** The session that a file continues: Claude Code 1.x copied its records to the start of a new file. */
interface ContinuedSession {
  /** The first session of the chain. */
  readonly rootSessionId: string;
  /** The session before, and its dispatch. */
  readonly sessionId: string;
  readonly dispatchId: string;
}

const mostBeforeFolder = 64;

/**
 * `isNamedBySession`: the session alone names the dispatch, and not when it began.
 * @throws FORMAT_UNREADABLE, FORMAT_EMPTY, FORMAT_NOT_JSONL
 */
export async function readLogHead(
  path: string,
  isRecord: IsRecord,
  { isNamedBySession }: { readonly isNamedBySession: boolean },
): Promise<LogHead> {
  const nameOfFile = basename(path, extname(path));
  let first: string | undefined;
  let before: string | undefined;
  let agentId: string | undefined;
  let cwd: string | undefined;
  let time: number | undefined;
  let ownTime: number | undefined;
  let records = 0;
  for await (const record of recordsOf(path, isRecord)) {
    records += 1;
    const session = sessionOf(record);
    first ??= session;
    agentId ??= asName(record.agentId);
    cwd ??= asName(record.cwd);
    time ??= recordedTime(record);
    if (session === nameOfFile) ownTime ??= recordedTime(record);
    else before = session ?? before;
    const mayContinue = uuid.test(nameOfFile) && first !== undefined && first !== nameOfFile;
    const hasFolder = cwd !== undefined || records > mostBeforeFolder;
    if (time !== undefined && hasFolder && (!mayContinue || agentId !== undefined || ownTime !== undefined))
      break;
  }
  const { size, mtimeMs } = await stat(path);
  if (records === 0) refuse(path, size);
  const isContinuation = first !== undefined && first !== nameOfFile && ownTime !== undefined;
  const sessionId = isContinuation ? nameOfFile : first;
  const name = [sessionId ?? nameOfFile, agentId].filter((part) => part !== undefined);
  const firstTime = time ?? Math.floor(mtimeMs);
  const idOf = (session: string) =>
    isNamedBySession ? dispatchOfSession(session) : dispatchIdOf(session, time ?? 0);
  return {
    path,
    bytes: size,
    modifiedAt: mtimeMs,
    sessionId: sessionId ?? null,
    agentId: agentId ?? null,
    cwd: cwd ?? null,
    startedAt: (isContinuation ? (ownTime ?? time) : time) ?? null,
    firstTime,
    hasTime: time !== undefined,
    dispatchId: idOf(name.join('\n')),
    continues:
      isContinuation && first !== undefined
        ? {
            rootSessionId: first,
            sessionId: before ?? first,
            dispatchId: idOf(before ?? first),
          }
        : null,
  };
}

/** Claude Code names the file of a session by the id of the session. */
export const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

async function* recordsOf(path: string, isRecord: IsRecord): AsyncGenerator<JsonObject> {
  for await (const lines of readParts(path, isRecord, () => {}))
    for (const { parts } of lines)
      for (const part of parts) {
        const record = part.kind === 'record' ? asObject(part.record) : undefined;
        if (record !== undefined && asName(record.type) !== undefined) yield record;
      }
}

function sessionOf(record: JsonObject): string | undefined {
  return asName(record.sessionId) ?? asName(record.session_id);
}

function refuse(path: string, size: number): never {
  if (size === 0)
    throw formatErrors.error('FORMAT_EMPTY', `${path} is empty.`, {
      details: { file: path },
    });
  throw formatErrors.error(
    'FORMAT_NOT_JSONL',
    `${path} is neither a transcript nor a recorded stream: none of its ${size} bytes belong to a record, a JSON object with a type.`,
    { details: { file: path } },
  );
}

export interface ReadLogOptions {
  /** Absent: `full`. */
  readonly fidelity?: Fidelity;
  /** Stops reading between two batches. */
  readonly signal?: AbortSignal;
  /** Called after each batch with the number of bytes read so far. */
  readonly onProgress?: (bytes: number) => void;
}

/** A session of Claude Code, or a recorded stream of the Agent SDK, that is open for reading. */
export interface ClaudeLog {
  readonly format: 'claude-transcript' | 'claude-stream';
  /** The files, with the file of the session itself first. */
  readonly files: readonly string[];
  /** Total size of all files. */
  readonly bytes: number;
  /**
   * A ULID derived from the product and the session id (from the file name, if the records have none), so that it stays the same when the file
   * grows. For a recorded stream, also from its first time.
   */
  readonly dispatchId: string;
  readonly sessionId: string | null;
  /** The session whose records are copied at the start of the file; null for most sessions. */
  readonly continues: ContinuedSession | null;
  readonly cwd: string | null;
  /** Milliseconds since 1970: the first time in the records. Null: none has one. */
  readonly startedAt: number | null;
  /** Whether any record has a time. */
  readonly hasTime: boolean;
  /**
   * The events in batches, in the order of the files, each with an id, and with the time of its record if that has one. A file that has grown gives the same events
   * and then more. An unfinished record at the end is held back and reported. Can be called once per log.
   * @throws FORMAT_UNREADABLE
   */
  read(options?: ReadLogOptions): AsyncGenerator<CapturedEvent[]>;
  /** Counts, totals and diagnostics. Complete when `read` has ended. */
  summary(): ClaudeLogSummary;
  /**
   * See `OpenLog` of `@hansard/provider`: true for a message of a sub-agent that both its file and the progress of
   * its caller hold.
   */
  isInSeveralRecords?(eventId: string): boolean;
  /**
   * The rest of the log after an earlier reading, whose summary had `kept`. Null if the log does not begin with what was read
   * then, and for a recorded stream. The bytes of the earlier reading are compared by their checksum; only lines that may still matter are parsed.
   */
  continueAfter(kept: JsonValue): ClaudeLogRest | null;
}

/** The rest of a log. */
export interface ClaudeLogRest extends Pick<ClaudeLog, 'read'> {
  /** Counts, model, status and end are those of the whole log; usage and diagnostics, those of the rest. */
  summary(): ClaudeLogSummary;
  /** Whether the rest refers to a part that was not parsed again, so that the whole log has to be read. `read` then ends early. */
  isLost(): boolean;
}

/** Counts of the parts of a log. */
export interface ReadingCounts {
  readonly lines: number;
  readonly records: number;
  readonly events: number;
  readonly messages: number;
}

export interface ClaudeLogSummary {
  readonly records: number;
  /**
   * What happened to the records, bytes and files of the whole log. Left out are `repeated` records, `streamed` pieces of answers, what is
   * `unfinished`, what a notice has `cut`, `blank` lines, sidecars that were `not_read`, and files with `no_records`.
   */
  readonly balance: SourceBalance;
  /** Diagnostics by file and line: the first 20 of each code in each file. */
  readonly diagnostics: readonly ClaudeDiagnostic[];
  readonly lines: number;
  readonly events: number;
  /** The number of diagnostics of each code. */
  readonly counts: DiagnosticCounts;
  readonly model: string | null;
  /** As `lastRecordAt`. */
  readonly completedAt: number | null;
  /** Milliseconds since 1970: the latest time of all records. Null: none has a time. */
  readonly lastRecordAt: number | null;
  /** `running`: the log does not show an end. */
  readonly status: DispatchStatus;
  /** The status of a `running` session if no record follows. */
  readonly statusIfQuiet: Exclude<DispatchStatus, 'running'>;
  /** The `agent:inference` events that messages become which may continue, as they would be now, and what messages with an event used more. By time. */
  readonly openCalls: readonly OpenCallEvent[];
  readonly structuredResult: JsonValue | null;
  /** The uuid of the last message of the session itself; null: none has one. */
  readonly lastMessage: string | null;
  /** The `leafUuid` of each summary: the last messages of other sessions, as a rule. At most 1,000. */
  readonly summarises: readonly string[];
  /**
   * The ids of the first answer and of the first one after each compaction: the first and the latest 31. If one of
   * two sessions begins with a copy of the other's records, they share one of these ids.
   */
  readonly heads: readonly string[];
  /** The `session:rewind` that the next record makes if it continues from there; null: no marker at the end announces one. */
  readonly openRewind: OpenRewind | null;
  /** What `continueAfter` needs after this reading; null if the log has to be read as a whole. It holds no content. */
  readonly kept: JsonValue | null;
}
