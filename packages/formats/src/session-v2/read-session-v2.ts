import { type ReadOptions, type ReadSession, readSession } from '../session-records/read-session.ts';
import { sessionV2Dialect } from './session-v2-dialect.ts';

/**
 * Reads a session log (`session-log-v2`): one JSON record on each line. Every record keeps its id; one that becomes
 * several events gives them `ID`, `ID.1`, `ID.2` …, and its id as their `messageId`. What only the record says, and its
 * events do not, stands in `data.record` of the first. A result that tells of a hook's
 * denial gets a `harness:hook_decision` before it, and names it as `via`. What is odd is kept and reported.
 *
 * @throws FORMAT_NO_RECORDS, FORMAT_OTHER_DIALECT
 */
export function readSessionV2(source: string | Uint8Array, options: ReadOptions = {}): ReadSession {
  return readSession(sessionV2Dialect, source, options);
}
