import { isPlainObject, type JsonValue } from '@hansard/events';

/** Whether a value is a record of a transcript, and not a message nested in one, which does not name a session. */
export function isTranscriptRecord(value: JsonValue): boolean {
  if (!isPlainObject(value) || typeof value.type !== 'string') return false;
  return ['sessionId', 'parentUuid', 'leafUuid', 'snapshot'].some((key) => Object.hasOwn(value, key));
}
