import { isPlainObject, type JsonObject, type JsonValue, toTimestamp } from '@hansard/events';

const longestRaw = 16 * 1024;

/**
 * The fields of a notice that keep a value which could not be mapped: the value itself up to 16 KB of JSON, otherwise
 * the first 16 KB as text and the total length in bytes.
 */
export function rawFields(value: JsonValue): JsonObject {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  // UTF-8 needs at most three bytes per UTF-16 unit, so short texts need no measuring.
  if (text.length * 3 <= longestRaw) return { raw: value };
  const bytes = Buffer.from(text, 'utf8');
  if (bytes.length <= longestRaw) return { raw: value };
  const start = new TextDecoder().decode(bytes.subarray(0, longestRaw), { stream: true });
  return { raw: start, rawBytes: bytes.length };
}

type Field = JsonValue | undefined;

export function asObject(value: Field): JsonObject | undefined {
  return isPlainObject(value) ? (value as JsonObject) : undefined;
}

export function asList(value: Field): JsonValue[] | undefined {
  return Array.isArray(value) ? value : undefined;
}

export function asText(value: Field): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** A non-empty string. */
export function asName(value: Field): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** A non-negative number, such as an amount of money or a duration. */
export function asAmount(value: Field): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined;
}

/** A non-negative integer. */
export function asCount(value: Field): number | undefined {
  const amount = asAmount(value);
  return Number.isSafeInteger(amount) ? amount : undefined;
}

/** Field names: a short list, or a set. */
type FieldNames = readonly string[] | ReadonlySet<string>;

const noNames: readonly string[] = [];

/** Whether an object has any field. */
export function hasFields(fields: object): boolean {
  for (const key in fields) if (Object.hasOwn(fields, key)) return true;
  return false;
}

/** The object without keys whose value is undefined. Returns the same object if it has none. */
export function withoutUndefined<T extends object>(fields: T): T {
  const source = ownFields(fields);
  let hasGap = false;
  for (const key in source) hasGap ||= source[key] === undefined;
  if (!hasGap) return fields;
  const picked: Fields = {};
  for (const key in source) {
    const value = source[key];
    if (value !== undefined) put(picked, key, value);
  }
  return picked as T;
}

/** The object without keys whose value is null or undefined, and without the named ones. Returns the same object if nothing changes. */
export function withoutNull(
  fields: JsonObject,
  names: FieldNames = noNames,
  more: readonly string[] = noNames,
): JsonObject {
  const source = ownFields(fields);
  let hasGap = names !== noNames || more !== noNames;
  for (const key in source) hasGap ||= source[key] === null || source[key] === undefined;
  if (!hasGap) return fields;
  const picked: Fields = {};
  for (const key in source) {
    const value = source[key];
    if (value === undefined || value === null) continue;
    if (!isAmong(names, key) && !more.includes(key)) put(picked, key, value);
  }
  return picked;
}

/** The object without the named keys. */
export function without(
  fields: JsonObject,
  names: FieldNames,
  more: readonly string[] = noNames,
): JsonObject {
  const source = ownFields(fields);
  const picked: Fields = {};
  for (const key in source) if (!isAmong(names, key) && !more.includes(key)) put(picked, key, source[key]);
  return picked;
}

function isAmong(names: FieldNames, key: string): boolean {
  return names instanceof Set ? names.has(key) : (names as readonly string[]).includes(key);
}

type Fields = Record<string, Field>;

/**
 * The object to iterate with for-in, which is three times as fast as `Object.entries` but includes inherited keys: a copy
 * without a prototype if `Object.prototype` has enumerable keys.
 */
function ownFields(fields: object): Fields {
  for (const _key in empty) return Object.assign(Object.create(null), fields);
  return fields as Fields;
}

const empty = {};

/** Every message passes here several times. */
function put(picked: Fields, key: string, value: Field): void {
  // An assignment to `__proto__` would set the prototype.
  if (key === '__proto__') Object.defineProperty(picked, key, { value, ...ordinary });
  else picked[key] = value;
}

const ordinary = { enumerable: true, writable: true, configurable: true } as const;

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
