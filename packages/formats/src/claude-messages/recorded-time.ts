import type { JsonObject } from '@hansard/events';

const firstInstant = Date.parse('0000-01-01T00:00:00.000Z');
const lastInstant = Date.parse('9999-12-31T23:59:59.999Z');

/** The time that a message carries, in milliseconds since 1970; undefined where it has none or none that is clear. */
export function recordedTime(message: JsonObject): number | undefined {
  const { timestamp } = message;
  if (typeof timestamp !== 'string') return undefined;
  if (!/^\d{4}-\d\d-\d\dT.*(Z|[+-]\d\d:?\d\d)$/.test(timestamp)) return undefined;
  const time = Date.parse(timestamp);
  return time >= firstInstant && time <= lastInstant ? time : undefined;
}
