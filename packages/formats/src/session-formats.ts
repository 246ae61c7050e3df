import type { CapturedEvent, JsonObject } from '@hansard/events';
import { idText, parseLines } from './lines/parse-lines.ts';
import {
  type ReadOptions,
  type ReadSession,
  readSessionV1,
  readSessionV2,
  readSmallchat,
} from './sessions/read-session.ts';
import {
  foreignTrait,
  isForeignEntry,
  recordKind,
  type SessionFormatId,
  sessionDialects,
  sessionV1Dialect,
  sessionV2Dialect,
} from './sessions/session-dialect.ts';
import { isSmallchatRecord } from './sessions/smallchat-form.ts';
import {
  type WriteOptions,
  type WrittenSession,
  writeSessionV1,
  writeSessionV2,
  writeSmallchat,
} from './sessions/write-session.ts';

/** A format of session logs, chosen by its id. */
export interface SessionFormat {
  readonly id: SessionFormatId;
  readonly read: (source: string | Uint8Array, options?: ReadOptions) => ReadSession;
  readonly write: (events: readonly CapturedEvent[], options?: WriteOptions) => WrittenSession;
}

export const sessionFormats: Readonly<Record<SessionFormatId, SessionFormat>> = {
  'session-v1': { id: 'session-v1', read: readSessionV1, write: writeSessionV1 },
  'session-v2': { id: 'session-v2', read: readSessionV2, write: writeSessionV2 },
  smallchat: { id: 'smallchat', read: readSmallchat, write: writeSmallchat },
};

/** How many records a log has, how many are of a known kind, and how many of these name no agent. */
interface SessionShares {
  readonly records: number;
  readonly known: number;
  readonly withoutAgent: number;
}

/**
 * Detects the format of a log: most of its records must be of a known kind and name themselves and their agent. The dialect is
 * that of the majority of these records. Null if neither is shown.
 */
export function detectSessionFormat(source: string | Uint8Array): SessionFormatId | null {
  let balance = 0;
  let records = 0;
  let identified = 0;
  let smallchat = 0;
  for (const record of recordsIn(source)) {
    records += 1;
    if (isSmallchatRecord(record)) smallchat += 1;
    if (!isSessionRecord(record) || !namesItself(record)) continue;
    identified += 1;
    if (foreignTrait(sessionV1Dialect, record) !== null) balance += 1;
    if (foreignTrait(sessionV2Dialect, record) !== null) balance -= 1;
  }
  if (smallchat > records / 2) return 'smallchat';
  if (balance === 0 || identified <= records / 2) return null;
  return balance > 0 ? 'session-v2' : 'session-v1';
}

/** What a whole log says of itself. `format`: as which it is read. */
export function sessionShares(source: string | Uint8Array, format?: SessionFormatId): SessionShares {
  const records = recordsIn(source);
  if (format === 'smallchat')
    return { records: records.length, known: records.filter(isSmallchatRecord).length, withoutAgent: 0 };
  const known = records.filter(isSessionRecord);
  return {
    records: records.length,
    known: known.length,
    withoutAgent: known.filter(({ agent_id: agent }) => idText(agent) === undefined).length,
  };
}

function recordsIn(source: string | Uint8Array): JsonObject[] {
  return parseLines(source).flatMap((line) => (line.kind === 'record' ? [line.record] : []));
}

function namesItself({ message_id: id, agent_id: agent }: JsonObject): boolean {
  return idText(id) !== undefined && idText(agent) !== undefined;
}

function isSessionRecord(record: JsonObject): boolean {
  return [sessionV1Dialect, sessionV2Dialect].some((dialect) => recordKind(dialect, record) !== null);
}

/** Whether any record of a log may belong to the dialect. */
export function hasSessionRecord(source: string | Uint8Array, format: SessionFormatId): boolean {
  const dialect = sessionDialects[format];
  return recordsIn(source).some(
    (record) =>
      isSmallchatRecord(record) === (format === 'smallchat') &&
      recordKind(dialect, record) !== null &&
      !isForeignEntry(dialect, record),
  );
}
