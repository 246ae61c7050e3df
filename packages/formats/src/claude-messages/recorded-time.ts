import { type JsonObject, toTimestamp } from '@hansard/events';

const firstInstant = Date.parse('0000-01-01T00:00:00.000Z');
const lastInstant = Date.parse('9999-12-31T23:59:59.999Z');

/** How events write a time. */
const exact = /^\d{4}-\d\d-\d\dT(?:[01]\d|2[0-3]):\d\d:\d\d\.\d{3}Z$/;

let latestText = '';
let latestTime: number | undefined;

/** The time that a message carries, in milliseconds since 1970; undefined where it has none or none that is clear. */
export function recordedTime(message: JsonObject): number | undefined {
  const { timestamp } = message;
  if (typeof timestamp !== 'string') return undefined;
  // One message is asked several times.
  if (timestamp !== latestText) {
    latestTime = parseTime(timestamp);
    latestText = timestamp;
  }
  return latestTime;
}

function parseTime(timestamp: string): number | undefined {
  if (!/^\d{4}-\d\d-\d\dT.*(Z|[+-]\d\d:?\d\d)$/.test(timestamp)) return undefined;
  const time = Date.parse(timestamp);
  return time >= firstInstant && time <= lastInstant ? time : undefined;
}

/** A time as an event has it: the text that it was just read from, where that is written in the same way. */
export function timestampOf(time: number): string {
  return time === latestTime && exact.test(latestText) ? latestText : toTimestamp(time);
}
