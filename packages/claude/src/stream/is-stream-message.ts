import { isPlainObject, type JsonValue } from '@hansard/events';

/** Whether a value is a message of a stream, and not an object nested in a broken message. */
export function isStreamMessage(value: JsonValue): boolean {
  return isPlainObject(value) && typeof value.type === 'string' && ('session_id' in value || 'uuid' in value);
}
