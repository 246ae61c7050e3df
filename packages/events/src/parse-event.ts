import * as z from 'zod/mini';
import en from 'zod/v4/locales/en.js';
import { type EventError, eventErrors } from './event-errors.ts';
import { describeIssues, preview } from './json/describe-issues.ts';
import { findNotJson, holdsOnlyJson, isPlainObject } from './json/json.ts';
import { jsonObjectSchema, jsonValueSchema } from './json/json-value-schema.ts';
import { isPlainEnvelope, isPlainTask } from './plain/is-readable.ts';
import {
  type DispatchEnvelope,
  type EnvelopeUpdates,
  envelopeSchema,
  type TaskRecord,
  taskRecordSchema,
} from './types/envelope.ts';
import { type CapturedEvent, eventDataSchemas, eventFieldsSchema, isEventType } from './types/event.ts';
import { costSchema, countSchema, idSchema, isId, isTimestamp, millisecondsSchema } from './types/fields.ts';

const isDuration: QuickCheck = (value) => Number.isFinite(value) && (value as number) >= 0;

/** For a value that holds only JSON, the schemas of JSON always pass. */
const ownChecks: ReadonlyMap<z.core.$ZodType, QuickCheck> = new Map<z.core.$ZodType, QuickCheck>([
  [jsonValueSchema, () => true],
  [jsonObjectSchema, isPlainObject],
  [idSchema, isId],
  [countSchema, (value) => Number.isSafeInteger(value) && (value as number) >= 0],
  [millisecondsSchema, isDuration],
  [costSchema, isDuration],
]);

const updatesSchema = z.extend(z.partial(envelopeSchema), {
  dispatchId: z.optional(z.never()),
  taskSlug: z.optional(z.never()),
  letter: z.optional(z.never()),
  schemaVersion: z.optional(z.never()),
});

/** Schemas for the data of event types, by type. A plugin adds its own beside `eventDataSchemas`. */
export type EventDataSchemas = Readonly<Record<string, z.core.$ZodType>>;

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
  const data = checked(schema ?? jsonObjectSchema, event.data);
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

const checks = new WeakMap<z.core.$ZodType, QuickCheck>();

/** A fast check of data that holds only JSON: true if the data passes the schema; after false, the schema decides. */
export function quickCheckOf(schema: z.core.$ZodType): QuickCheck {
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
  const fields = checked(eventFieldsSchema, value);
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

function invalid(error: z.core.$ZodError, value: unknown, prefix: string): EventError {
  const type = (value as { type?: unknown } | null)?.type;
  const problem =
    typeof type === 'string' ? `Not a valid ${preview(type).slice(1, -1)} event` : 'Not an event';
  const { text, details } = describeIssues(error, value, prefix);
  return eventErrors.error('EVENT_INVALID', `${problem}: ${text}`, { cause: error, details });
}

/** Checks that a value is an envelope and returns it unchanged. @throws EVENT_ENVELOPE_INVALID */
export function parseEnvelope(value: unknown): DispatchEnvelope {
  if (isPlainEnvelope(value)) return value as DispatchEnvelope;
  return check(envelopeSchema, value, 'EVENT_ENVELOPE_INVALID', 'an envelope');
}

/** Checks a change to an envelope. Its identity (dispatch, task, letter, schema version) never changes. @throws EVENT_ENVELOPE_INVALID */
export function parseEnvelopeUpdates(value: unknown): EnvelopeUpdates {
  return check(updatesSchema, value, 'EVENT_ENVELOPE_INVALID', 'a change to an envelope') as EnvelopeUpdates;
}

/** Checks that a value is a task record and returns it unchanged. @throws EVENT_TASK_INVALID */
export function parseTaskRecord(value: unknown): TaskRecord {
  if (isPlainTask(value)) return value as TaskRecord;
  return check(taskRecordSchema, value, 'EVENT_TASK_INVALID', 'a task record');
}

function check<T>(schema: z.core.$ZodType<T>, value: unknown, code: EventError['code'], what: string): T {
  const result = checked(schema, value);
  if (result.success) return value as T;
  const { text, details } = describeIssues(result.error, value);
  throw eventErrors.error(code, `Not ${what}: ${text}`, { cause: result.error, details });
}

const { localeError } = en();

/** Checks a value. The errors are in English, whatever is configured for zod. */
function checked<T>(schema: z.core.$ZodType<T>, value: unknown): z.core.util.SafeParseResult<T> {
  return z.safeParse(schema, value, { error: localeError });
}

/**
 * A fast check of a value that holds only JSON. True if it passes the schema. After false, the schema decides and gives
 * the reasons.
 */
type QuickCheck = (value: unknown) => boolean;

/** Compiles a schema to a function that is ten times faster. It calls the schema for kinds that it cannot compile. */
function compileCheck(schema: z.core.$ZodType): QuickCheck {
  const own = ownChecks.get(schema);
  if (own !== undefined) return own;
  const { def } = schema._zod;
  const decide: QuickCheck = (value) => z.safeParse(schema, value).success;
  if (hasMore(def)) return decide;
  if (def.type === 'string') return (value) => typeof value === 'string';
  if (def.type === 'boolean') return (value) => typeof value === 'boolean';
  if (def.type === 'object') return compileObject((def as z.core.$ZodObjectDef).shape);
  if (def.type !== 'array') return decide;
  const isItem = compileCheck((def as z.core.$ZodArrayDef).element);
  return (value) => Array.isArray(value) && value.every((item) => isItem(item));
}

/** Whether a schema has additional checks beyond its kind. */
function hasMore(def: z.core.$ZodTypeDef): boolean {
  const { checks, format, coerce, catchall } = def as unknown as Readonly<Record<string, unknown>>;
  const isBare = checks === undefined || (Array.isArray(checks) && checks.length === 0);
  return !isBare || format !== undefined || coerce === true || catchall !== undefined;
}

function compileObject(shape: Readonly<Record<string, z.core.$ZodType>>): QuickCheck {
  const fields = Object.entries(shape).map(([key, schema]) => {
    const { def } = schema._zod;
    const mayBeAbsent = def.type === 'optional';
    const isValid = compileCheck(mayBeAbsent ? (def as z.core.$ZodOptionalDef).innerType : schema);
    return { key, mayBeAbsent, isValid };
  });
  return (value) => {
    if (!isPlainObject(value)) return false;
    for (const { key, mayBeAbsent, isValid } of fields) {
      const field = value[key];
      if (field === undefined ? !mayBeAbsent : !isValid(field)) return false;
    }
    return true;
  };
}

/**
 * The text of a thrown value: its message if it has one, a string unchanged, else a short form of the value. An error
 * of another realm is not an `Error` here, but has a message. Never throws.
 */
export function messageOf(thrown: unknown): string {
  if (typeof thrown === 'string' || thrown === undefined) return String(thrown);
  let message: unknown;
  try {
    message = (thrown as { readonly message?: unknown } | null)?.message;
  } catch {
    // A proxy that was revoked, or a getter that throws.
  }
  return typeof message === 'string' ? message : preview(thrown);
}
