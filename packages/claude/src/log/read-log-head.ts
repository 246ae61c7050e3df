import { stat } from 'node:fs/promises';
import { basename, extname } from 'node:path';
import type { JsonObject } from '@hansard/events';
import { FormatError } from '@hansard/events';
import type { IsRecord } from '../json-lines/split-records.ts';
import { asName, asObject } from '../values/json-fields.ts';
import { recordedTime } from '../values/recorded-time.ts';
import { dispatchIdOf } from './dispatch-id.ts';
import { readParts } from './read-parts.ts';

/** Facts from the records up to the first one with a time. They stay the same when the file grows. */
export interface LogHead {
  readonly path: string;
  readonly bytes: number;
  readonly sessionId: string | null;
  readonly agentId: string | null;
  readonly cwd: string | null;
  readonly startedAt: number;
  readonly hasTime: boolean;
  readonly dispatchId: string;
}

/** @throws FORMAT_UNREADABLE, FORMAT_EMPTY, FORMAT_NOT_JSONL */
export async function readLogHead(path: string, isRecord: IsRecord): Promise<LogHead> {
  let sessionId: string | undefined;
  let agentId: string | undefined;
  let cwd: string | undefined;
  let time: number | undefined;
  let hasRecord = false;
  reading: for await (const lines of readParts(path, isRecord, () => {})) {
    for (const { parts } of lines) {
      for (const part of parts) {
        const record = part.kind === 'record' ? asObject(part.record) : undefined;
        if (record === undefined || asName(record.type) === undefined) continue;
        hasRecord = true;
        sessionId ??= sessionOf(record);
        agentId ??= asName(record.agentId);
        cwd ??= asName(record.cwd);
        time ??= recordedTime(record);
        if (time !== undefined) break reading;
      }
    }
  }
  const { size, mtimeMs } = await stat(path);
  if (!hasRecord) refuse(path, size);
  const name = [sessionId ?? basename(path, extname(path)), agentId].filter((part) => part !== undefined);
  return {
    path,
    bytes: size,
    sessionId: sessionId ?? null,
    agentId: agentId ?? null,
    cwd: cwd ?? null,
    startedAt: time ?? Math.floor(mtimeMs),
    hasTime: time !== undefined,
    dispatchId: dispatchIdOf(name.join('\n'), time ?? 0),
  };
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
