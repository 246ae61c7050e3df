import type { z } from 'zod';
import { type EventError, eventErrors } from './event-errors.ts';
import { describeIssues, preview } from './json/describe-issues.ts';
import { findNotJson, holdsOnlyJson, isPlainObject } from './json/json.ts';
import { jsonObjectSchema } from './json/json-value-schema.ts';
import { messageOf } from './message-of.ts';
import { compileCheck, type QuickCheck } from './types/compile-check.ts';
import { type CapturedEvent, eventDataSchemas, eventFieldsSchema, isEventType } from './types/event.ts';
import { isId, isTimestamp } from './types/fields.ts';

/** Schemas for the data of event types, by type. A plugin adds its own beside `eventDataSchemas`. */
export type EventDataSchemas = Readonly<Record<string, z.ZodType>>;

/**
 * Checks that a value is an event and returns it unchanged. Unknown keys stay, and an event of an unknown type is valid.
 *
 * @throws EVENT_INVALID naming the path and the offending value
 * @throws EVENT_NOT_JSON for a value that JSON cannot hold unchanged (NaN, a Date, a function …)
 * @throws EVENT_EPHEMERAL for a streaming delta, which is never recorded (D8)
 */
export function parseEvent(value: unknown, schemas: EventDataSchemas = eventDataSchemas): CapturedEvent {
  if (isPlainJson(value) && isUsualEvent(value, schemas)) return value;
  if (!hasUsualFields(value)) checkFields(value);
  const event = value as CapturedEvent;
  if (event.substance !== undefined && event.cause !== undefined) {
    throw eventErrors.error(
      'EVENT_INVALID',
      `Not an event: it has both substance (${event.substance}) and cause.`,
      {
        details: { path: 'substance', value: preview(event.substance) },
      },
    );
  }
  const schema = Object.hasOwn(schemas, event.type) ? schemas[event.type] : undefined;
  const data = (schema ?? jsonObjectSchema).safeParse(event.data);
  const notJson = findNotJson(event);
  if (notJson !== null) {
    throw eventErrors.error(
      'EVENT_NOT_JSON',
      `${notJson.path} of a ${event.type} event is ${preview(notJson.value)}, which JSON cannot hold; snapshot it first.`,
      { details: { path: notJson.path, value: preview(notJson.value) } },
    );
  }
  if (!data.success) throw invalid(data.error, value, 'data');
  return event;
}

function isPlainJson(value: unknown): boolean {
  try {
    return holdsOnlyJson(value);
  } catch {
    // A getter or a proxy in it threw. The full check throws again if that matters.
    return false;
  }
}

/**
 * A fast check for values that hold only JSON. True for common valid events; after false, `parseEvent` decides.
 */
export function isUsualEvent(value: unknown, schemas: EventDataSchemas): value is CapturedEvent {
  if (!hasUsualFields(value)) return false;
  const { type, substance, cause, data } = value;
  if (substance !== undefined && cause !== undefined) return false;
  const schema = Object.hasOwn(schemas, type) ? schemas[type] : jsonObjectSchema;
  return schema !== undefined && quickCheckOf(schema)(data);
}

const checks = new WeakMap<z.ZodType, QuickCheck>();

/** A fast check of data that holds only JSON: true if the data passes the schema; after false, the schema decides. */
export function quickCheckOf(schema: z.ZodType): QuickCheck {
  const known = checks.get(schema);
  if (known !== undefined) return known;
  const check = compileCheck(schema);
  checks.set(schema, check);
  return check;
}

/** A fast check: true for common valid events; after false, the schema decides. */
function hasUsualFields(value: unknown): value is CapturedEvent {
  if (!isPlainObject(value)) return false;
  const event = value as Partial<CapturedEvent>;
  return (
    isEventType(event.type) &&
    isId(event.id) &&
    (event.timestamp === null || isTimestamp(event.timestamp)) &&
    event.v === undefined &&
    (event.agentId === undefined || isId(event.agentId)) &&
    (event.messageId === undefined || event.messageId === event.id || isId(event.messageId)) &&
    (event.substance === undefined || isId(event.substance)) &&
    (event.cause === undefined || isId(event.cause)) &&
    (event.via === undefined || isId(event.via)) &&
    (event.follows === undefined || isId(event.follows)) &&
    event.retracts === undefined
  );
}

function checkFields(value: unknown): void {
  const type = (value as { type?: unknown } | null)?.type;
  if (typeof type === 'string' && type.startsWith('delta:')) {
    throw eventErrors.error(
      'EVENT_EPHEMERAL',
      `A streaming delta (${type}) is never an event; publish it instead.`,
    );
  }
  const fields = eventFieldsSchema.safeParse(value);
  if (!fields.success) throw invalid(fields.error, value, '');
}

/** Whether `parseEvent` accepts the value. */
export function isEvent(
  value: unknown,
  schemas: EventDataSchemas = eventDataSchemas,
): value is CapturedEvent {
  try {
    parseEvent(value, schemas);
    return true;
  } catch {
    return false;
  }
}

/** Why `parseEvent` refuses a value that holds only JSON; null if it accepts the value. */
export function eventProblem(value: unknown): string | null {
  if (isUsualEvent(value, eventDataSchemas)) return null;
  try {
    parseEvent(value);
    return null;
  } catch (error) {
    return messageOf(error);
  }
}

function invalid(error: z.ZodError, value: unknown, prefix: string): EventError {
  const type = (value as { type?: unknown } | null)?.type;
  const problem =
    typeof type === 'string' ? `Not a valid ${preview(type).slice(1, -1)} event` : 'Not an event';
  const { text, details } = describeIssues(error, value, prefix);
  return eventErrors.error('EVENT_INVALID', `${problem}: ${text}`, { cause: error, details });
}
