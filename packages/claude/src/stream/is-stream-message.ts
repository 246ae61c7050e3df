import { isPlainObject, type JsonValue } from '@hansard/events';

/** Whether a value is a message of a stream, and not one that is nested in a broken one. */
export function isStreamMessage(value: JsonValue): boolean {
  return isPlainObject(value) && typeof value.type === 'string' && ('session_id' in value || 'uuid' in value);
}
