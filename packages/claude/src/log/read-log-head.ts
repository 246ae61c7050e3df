import { stat } from 'node:fs/promises';
import { basename, extname } from 'node:path';
import type { JsonObject } from '@hansard/events';
import { FormatError } from '@hansard/events';
import type { IsRecord } from '../json-lines/split-records.ts';
import { asName, asObject } from '../values/json-fields.ts';
import { recordedTime } from '../values/recorded-time.ts';
import { dispatchIdOf } from './dispatch-id.ts';
import { readParts } from './read-parts.ts';

/** Facts from the start of a file. They stay the same when the file grows. */
export interface LogHead {
  readonly path: string;
  readonly bytes: number;
  /** Milliseconds since 1970. */
  readonly modifiedAt: number;
  readonly sessionId: string | null;
  readonly agentId: string | null;
  readonly cwd: string | null;
  /** The first time of the session itself, in milliseconds since 1970. */
  readonly startedAt: number;
  /** The first time in the file: earlier than `startedAt` if the file begins with records of another session. */
  readonly firstTime: number;
  readonly hasTime: boolean;
  readonly dispatchId: string;
  /** Null unless the file begins with records of another session. */
  readonly continues: ContinuedSession | null;
}

/** The session that a file continues: Claude Code 1.x copied its records to the start of a new file. */
export interface ContinuedSession {
  /** The first session of the chain. */
  readonly rootSessionId: string;
  /** The session before, and its dispatch. */
  readonly sessionId: string;
  readonly dispatchId: string;
}

/** @throws FORMAT_UNREADABLE, FORMAT_EMPTY, FORMAT_NOT_JSONL */
export async function readLogHead(path: string, isRecord: IsRecord): Promise<LogHead> {
  const nameOfFile = basename(path, extname(path));
  let first: string | undefined;
  let before: string | undefined;
  let agentId: string | undefined;
  let cwd: string | undefined;
  let time: number | undefined;
  let ownTime: number | undefined;
  let hasRecord = false;
  for await (const record of recordsOf(path, isRecord)) {
    hasRecord = true;
    const session = sessionOf(record);
    first ??= session;
    agentId ??= asName(record.agentId);
    cwd ??= asName(record.cwd);
    time ??= recordedTime(record);
    if (session === nameOfFile) ownTime ??= recordedTime(record);
    else before = session ?? before;
    const mayContinue = uuid.test(nameOfFile) && first !== undefined && first !== nameOfFile;
    if (time !== undefined && (!mayContinue || agentId !== undefined || ownTime !== undefined)) break;
  }
  const { size, mtimeMs } = await stat(path);
  if (!hasRecord) refuse(path, size);
  const isContinuation = first !== undefined && first !== nameOfFile && ownTime !== undefined;
  const sessionId = isContinuation ? nameOfFile : first;
  const name = [sessionId ?? nameOfFile, agentId].filter((part) => part !== undefined);
  const firstTime = time ?? Math.floor(mtimeMs);
  return {
    path,
    bytes: size,
    modifiedAt: mtimeMs,
    sessionId: sessionId ?? null,
    agentId: agentId ?? null,
    cwd: cwd ?? null,
    startedAt: isContinuation ? (ownTime ?? firstTime) : firstTime,
    firstTime,
    hasTime: time !== undefined,
    dispatchId: dispatchIdOf(name.join('\n'), time ?? 0),
    continues:
      isContinuation && first !== undefined
        ? {
            rootSessionId: first,
            sessionId: before ?? first,
            dispatchId: dispatchIdOf(before ?? first, time ?? 0),
          }
        : null,
  };
}

/** Claude Code names the file of a session by the id of the session. */
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

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
    throw new FormatError('FORMAT_EMPTY', `${path} is empty.`, {
      details: { file: path },
    });
  throw new FormatError(
    'FORMAT_NOT_JSONL',
    `${path} is neither a transcript nor a recorded stream: none of its ${size} bytes belong to a record, a JSON object with a type.`,
    { details: { file: path } },
  );
}
