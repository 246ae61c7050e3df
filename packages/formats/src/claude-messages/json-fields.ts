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
  return pick(fields as Fields, (_key, value) => value !== undefined) as T;
}

/** The object without the keys that say nothing. */
export function withoutNull(fields: JsonObject): JsonObject {
  return pick(fields, (_key, value) => value !== undefined && value !== null) as JsonObject;
}

/** The object without the named keys. */
export function without(fields: JsonObject, keys: readonly string[]): JsonObject {
  return pick(fields, (key) => !keys.includes(key)) as JsonObject;
}

type Fields = Record<string, Field>;

/** Every message passes here several times: key by key is three times as fast as through entries. */
function pick(fields: Fields, isWanted: (key: string, value: Field) => boolean): Fields {
  const picked: Fields = {};
  for (const key in fields) {
    const value = fields[key];
    if (!Object.hasOwn(fields, key) || !isWanted(key, value)) continue;
    if (key === '__proto__') Object.defineProperty(picked, key, { value, ...ordinary });
    else picked[key] = value;
  }
  return picked;
}

/** Assigning to `__proto__` would not make a key of it. */
const ordinary = { enumerable: true, writable: true, configurable: true } as const;
