import { type ReadOptions, type ReadSession, readSession } from '../session-records/read-session.ts';
import { sessionV2Dialect } from './session-v2-dialect.ts';

/**
 * Reads a session log (`session-log-v2`): one JSON record per line. Every record keeps its id. The events of a record with
 * several events are `ID`, `ID.1`, `ID.2` …, with its id as their `messageId`. Fields of the record that its events lack
 * are in `data.record` of the first. A result that reports a hook's denial gets a `harness:hook_decision` before it and
 * names it as `via`. Unusual records are kept and reported.
 *
 * @throws FORMAT_NO_RECORDS, FORMAT_OTHER_DIALECT
 */
export function readSessionV2(source: string | Uint8Array, options: ReadOptions = {}): ReadSession {
  return readSession(sessionV2Dialect, source, options);
}
