import { isPlainObject, type JsonObject, type JsonValue } from '@hansard/events';

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

/** A text that can name something: not empty. */
export function asName(value: Field): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** A number that is not negative: an amount of money, a duration. */
export function asAmount(value: Field): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined;
}

/** A whole number that is not negative. */
export function asCount(value: Field): number | undefined {
  const amount = asAmount(value);
  return Number.isSafeInteger(amount) ? amount : undefined;
}

/** The object without the keys that are absent anyway. */
export function withoutUndefined<T extends object>(fields: T): T {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as T;
}

/** The object without the keys that say nothing. */
export function withoutNull(fields: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined && value !== null),
  );
}

/** The object without the named keys. */
export function without(fields: JsonObject, keys: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter(([key]) => !keys.includes(key)));
}
