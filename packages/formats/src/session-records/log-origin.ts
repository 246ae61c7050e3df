import { definedOnly, type JsonObject } from '@hansard/events';
import { idText } from './id-text.ts';

/** What a log tells of itself at its beginning, which stays as it is when the log grows. */
export interface LogOrigin {
  /** The id of the session, the run or the game, where the first record names one. */
  readonly id: string | null;
  /** Milliseconds since 1970: the time of the first record; null where it has none. */
  readonly time: number | null;
  /** Of the log, or of one game in it. */
  readonly firstRecord: JsonObject;
  /** The file that holds the first record, as the reader was told to call it. */
  readonly file?: string;
}

const idKeys = ['session_id', 'sessionId', 'run_id', 'runId', 'game_id', 'gameId', 'match_id', 'matchId'];

/** `record` says what the log is; it is the first record itself, but where a document has a head. */
export function originOf(
  firstRecord: JsonObject,
  file: string | undefined,
  record: JsonObject = firstRecord,
): LogOrigin {
  const ids = idKeys.flatMap((key) => idText(record[key]) ?? []);
  const id = ids.length === 0 ? null : ids.join('\n');
  return { id, time: timeOf(record), firstRecord, ...definedOnly({ file }) };
}

/** Only a time that says its zone is one: another would depend on where it is read. */
const zonedTime = /^\d{4}-.*(?:Z|[+-]\d\d:?\d\d)$/;

/** Milliseconds since 1970. */
export function timeOf({ timestamp }: JsonObject): number | null {
  if (typeof timestamp !== 'string' || !zonedTime.test(timestamp)) return null;
  const time = Date.parse(timestamp);
  return Number.isNaN(time) ? null : time;
}
