import { definedOnly, type JsonObject } from '@hansard/events';
import { idText } from './parse-lines.ts';

/** Facts from the beginning of a log, which stay the same when the log grows. */
export interface LogOrigin {
  /** The id of the session, run or game, if the first record names one. */
  readonly id: string | null;
  /** Milliseconds since 1970: the time of the first record; null if it has none. */
  readonly time: number | null;
  /** The first record of the log, or of one game in it. */
  readonly firstRecord: JsonObject;
  /** The name that the caller gave to the file with the first record. */
  readonly file?: string;
}

const idKeys = ['session_id', 'sessionId', 'run_id', 'runId', 'game_id', 'gameId', 'match_id', 'matchId'];

/** `record` identifies the log: its first record or, in a document with a head, the head. */
export function originOf(
  firstRecord: JsonObject,
  file: string | undefined,
  record: JsonObject = firstRecord,
): LogOrigin {
  const ids = idKeys.flatMap((key) => idText(record[key]) ?? []);
  const id = ids.length === 0 ? null : ids.join('\n');
  return { id, time: timeOf(record), firstRecord, ...definedOnly({ file }) };
}

/** Accepts only times with a zone. Others would depend on the machine that reads them. */
const zonedTime = /^\d{4}-.*(?:Z|[+-]\d\d:?\d\d)$/;

/** Milliseconds since 1970. */
export function timeOf({ timestamp }: JsonObject): number | null {
  if (typeof timestamp !== 'string' || !zonedTime.test(timestamp)) return null;
  const time = Date.parse(timestamp);
  return Number.isNaN(time) ? null : time;
}
