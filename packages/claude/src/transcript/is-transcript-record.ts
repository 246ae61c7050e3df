import { isPlainObject, type JsonValue } from '@hansard/events';

/** Whether a value is a record of a transcript and not a message that is nested in one, which names no session. */
export function isTranscriptRecord(value: JsonValue): boolean {
  if (!isPlainObject(value) || typeof value.type !== 'string') return false;
  return ['sessionId', 'parentUuid', 'leafUuid', 'snapshot'].some((key) => Object.hasOwn(value, key));
}
