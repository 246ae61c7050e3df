import { type JsonObject, toTimestamp } from '@hansard/events';

const firstInstant = Date.parse('0000-01-01T00:00:00.000Z');
const lastInstant = Date.parse('9999-12-31T23:59:59.999Z');

/**
 * The longest step back of a time, in milliseconds, that is usual in a healthy log: Claude Code writes records out of
 * order, and prompts with the time at which they were typed. Longer steps are reported.
 */
export const longestStepBack = 10 * 60 * 1_000;

/** The format of times in events. */
const exact = /^\d{4}-\d\d-\d\dT(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{3}Z$/;

/** The last result, because the time of one message is requested several times. */
let latestText = '';
let latestTime: number | undefined;
let latestIsExact = false;

/** The time of a message in milliseconds since 1970; undefined if it has none or the time zone is missing. */
export function recordedTime(message: JsonObject): number | undefined {
  const { timestamp } = message;
  if (typeof timestamp !== 'string') return undefined;
  if (timestamp !== latestText) {
    latestIsExact = exact.test(timestamp);
    latestTime = latestIsExact ? parseExact(timestamp) : parseTime(timestamp);
    latestText = timestamp;
  }
  return latestTime;
}

function parseTime(timestamp: string): number | undefined {
  if (!/^\d{4}-\d\d-\d\dT.*(Z|[+-]\d\d:?\d\d)$/.test(timestamp)) return undefined;
  const time = Date.parse(timestamp);
  return time >= firstInstant && time <= lastInstant ? time : undefined;
}

const dateLength = 'YYYY-MM-DDT'.length;
let latestDate: string | undefined;
let midnight: number | undefined;

/** Like `parseTime`, for a text in the format of events. The date is cached, because most texts have the same one as before. */
function parseExact(timestamp: string): number | undefined {
  if (latestDate === undefined || !timestamp.startsWith(latestDate)) {
    latestDate = timestamp.slice(0, dateLength);
    midnight = parseTime(`${latestDate}00:00:00.000Z`);
  }
  if (midnight === undefined) return undefined;
  const [hours, minutes, seconds] = [two(timestamp, 11), two(timestamp, 14), two(timestamp, 17)];
  return (
    midnight +
    ((hours * 60 + minutes) * 60 + seconds) * 1_000 +
    two(timestamp, 20) * 10 +
    digit(timestamp, 22)
  );
}

function two(text: string, at: number): number {
  return digit(text, at) * 10 + digit(text, at + 1);
}

const zero = '0'.charCodeAt(0);

function digit(text: string, at: number): number {
  return text.charCodeAt(at) - zero;
}

/** A time in the format of events. Reuses the text that it was just parsed from, if that has the same format. */
export function timestampOf(time: number): string {
  return time === latestTime && latestIsExact ? latestText : toTimestamp(time);
}

/** Whether the time of a message is in UTC with at most milliseconds, so that the event's time holds all of it. */
export function isUtcTime({ timestamp }: JsonObject): boolean {
  if (timestamp === latestText && latestIsExact) return true;
  return typeof timestamp === 'string' && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,3})?Z$/.test(timestamp);
}
