import { type CapturedEvent, type JsonObject, type JsonValue, redactionsField } from '@hansard/events';
import type { Redactor } from './create-redactor.ts';
import { markersIn } from './search/secret-search.ts';

/** Whether a text holds the marker of a redaction. */
function hasMarker(text: string): boolean {
  return markersIn(text).length > 0;
}

/**
 * Whether an event differs from a stored one only in what was redacted: a text that the redactor changes in the stored event, or
 * a text with a marker on both sides. So a log that is imported again under newer patterns has no conflict.
 */
export function differsInSecretsOnly(
  stored: CapturedEvent,
  event: CapturedEvent,
  redactor: Pick<Redactor, 'event'>,
): boolean {
  const { data: storedData, ...storedFields } = redactor.event(stored);
  const { data, ...fields } = event;
  return (
    isSame(storedFields as unknown as JsonObject, fields as unknown as JsonObject) &&
    isSame(withoutCounts(storedData), withoutCounts(data))
  );
}

/** Counts of secrets and, in a narrative, of omitted characters differ where markers do. */
function withoutCounts({ [redactionsField]: _, leftOut, ...data }: JsonObject): JsonObject {
  const omitted = typeof leftOut === 'object' && leftOut !== null ? Object.keys(leftOut) : (leftOut ?? null);
  return { ...data, leftOut: omitted };
}

/** Equal, with the order of keys, but for texts with a marker on both sides. */
function isSame(one: JsonValue | undefined, other: JsonValue | undefined): boolean {
  if (typeof one === 'string' && typeof other === 'string')
    return one === other || (hasMarker(one) && hasMarker(other));
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null)
    return Object.is(one, other);
  if (Array.isArray(one) !== Array.isArray(other)) return false;
  const [ours, theirs] = [Object.entries(one), Object.entries(other)];
  return (
    ours.length === theirs.length &&
    ours.every(([key, value], index) => {
      const [otherKey = '', otherValue] = theirs[index] ?? [];
      return isSame(key, otherKey) && isSame(value as JsonValue, otherValue as JsonValue);
    })
  );
}
