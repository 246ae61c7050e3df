import { type ReadOptions, type ReadSession, readSession } from '../session-records/read-session.ts';
import { sessionV1Dialect } from './session-v1-dialect.ts';

/**
 * Reads a session log of the older dialect (`session-log-v1`): `utterance_ref` is the substance, `caused_by` the cause,
 * `source` the source of a message. Everything else is as in `readSessionV2`.
 *
 * @throws FORMAT_NO_RECORDS, FORMAT_OTHER_DIALECT
 */
export function readSessionV1(source: string | Uint8Array, options: ReadOptions = {}): ReadSession {
  return readSession(sessionV1Dialect, source, options);
}
