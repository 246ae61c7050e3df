import { type CapturedEvent, isPlainObject, type JsonObject, type JsonValue } from '@hansard/events';
import { escapeKey, inKeyOrder, isLineStyle, type KeyOrders, type LineStyle } from './line-form.ts';
import { isRecordType } from './session-dialect.ts';

/**
 * The difference between a record and the record that is derived from its events. The keys of `put` and the items of
 * `absent` are JSON Pointers (RFC 6901) into the record, like the keys of `order`.
 */
export type Remainder = { put?: Record<string, JsonValue>; absent?: string[]; order?: KeyOrders };

/** The fields that a dialect expresses in its own way. A remainder has them whole. */
export const dialectFields = /^\/(event_type|substance|cause|utterance_ref|caused_by|source)$/;

/** A remainder as an event keeps it, with the format of its record. */
export type KeptRemainder = Remainder & {
  readonly format: string;
  /** How the log writes its lines from this record on. Absent: as before; at first `compact`. */
  readonly style?: LineStyle;
};

/** The remainder in `data.record` of the first event of a record; null if it has none. */
export function keptRemainder({ type, data }: CapturedEvent): KeptRemainder | null {
  // The data of a record of an unknown kind is the record itself.
  return isRecordType(type) || !isRemainder(data.record) ? null : data.record;
}

function isRemainder(value: JsonValue | undefined): value is JsonObject & KeptRemainder {
  if (!isPlainObject(value) || typeof value.format !== 'string') return false;
  const { put = {}, absent = [], order = {}, style = 'compact' } = value;
  return (
    isPlainObject(put) &&
    isTexts(absent) &&
    isPlainObject(order) &&
    Object.values(order).every(isTexts) &&
    isLineStyle(style)
  );
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}

/** The difference that turns the derived record into the original; null if they are equal. */
export function remainderOf(derived: JsonObject, original: JsonObject): Remainder | null {
  const put: Record<string, JsonValue> = {};
  const absent: string[] = [];
  gather(derived, original, '', put, absent);
  const hasPut = Object.keys(put).length > 0;
  if (!hasPut && absent.length === 0) return null;
  return { ...(hasPut ? { put } : {}), ...(absent.length > 0 ? { absent } : {}) };
}

export function applyRemainder(derived: JsonObject, remainder: Remainder): JsonObject {
  let record: JsonValue = derived;
  for (const pointer of remainder.absent ?? []) record = change(record, keysOf(pointer), undefined);
  for (const [pointer, value] of Object.entries(remainder.put ?? {})) {
    record = change(record, keysOf(pointer), value);
  }
  if (!isPlainObject(record)) return derived;
  const { order } = remainder;
  return (order === undefined ? record : inKeyOrder(record as JsonObject, order)) as JsonObject;
}

function gather(
  derived: JsonValue,
  original: JsonValue,
  pointer: string,
  put: Record<string, JsonValue>,
  absent: string[],
): void {
  if (Array.isArray(derived) && Array.isArray(original) && derived.length === original.length) {
    for (const [index, item] of original.entries()) {
      gather(derived[index] ?? null, item, `${pointer}/${index}`, put, absent);
    }
  } else if (isObject(derived) && isObject(original)) {
    for (const key of Object.keys(derived)) {
      if (!Object.hasOwn(original, key)) absent.push(`${pointer}/${escapeKey(key)}`);
    }
    for (const [key, value = null] of Object.entries(original)) {
      const at = `${pointer}/${escapeKey(key)}`;
      if (dialectFields.test(at)) {
        if (JSON.stringify(derived[key]) !== JSON.stringify(value)) put[at] = value;
      } else if (Object.hasOwn(derived, key)) gather(derived[key] ?? null, value, at, put, absent);
      else put[at] = value;
    }
  } else if (derived !== original) {
    put[pointer] = original;
  }
}

/** A copy with the value at that place replaced, or removed if it is undefined. Unchanged if the place does not exist. */
function change(target: JsonValue, keys: readonly string[], value: JsonValue | undefined): JsonValue {
  const [key, ...rest] = keys;
  if (key === undefined) return value ?? null;
  if (Array.isArray(target)) {
    return target.map((item, index) => (String(index) === key ? change(item, rest, value) : item));
  }
  if (!isObject(target)) return target;
  if (rest.length > 0) {
    const inner = Object.hasOwn(target, key) ? target[key] : undefined;
    return inner === undefined ? target : { ...target, [key]: change(inner, rest, value) };
  }
  if (value !== undefined) return { ...target, [key]: value };
  return Object.fromEntries(Object.entries(target).filter(([name]) => name !== key));
}

function keysOf(pointer: string): string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'));
}

function isObject(value: JsonValue): value is JsonObject {
  return isPlainObject(value);
}
