import { isPlainObject } from '@hansard/events';

/** A deep copy of a JSON value, without the keys whose value is `undefined`. */
export function copyJson<T>(value: T): T {
  return copy(value) as T;
}

/**
 * Like `ownValues`, for an object that may contain anything. Returns false if it contains a value that JSON cannot hold or
 * that needs the full check; then only some of its values were copied. Each value is read once, so that the checked value is
 * the one that is kept.
 */
export function ownPlainJson(target: object): boolean {
  try {
    return ownChecked(target as Record<string, unknown>, 0);
  } catch {
    // A getter or a proxy in it threw, or it nests too deep. The full check reports the error.
    return false;
  }
}

/** A deep copy of an object, as `ownPlainJson` makes it of each value. Null: not only JSON is in it, or the full check decides. */
export function copyPlainJson(value: unknown): Record<string, unknown> | null {
  try {
    const copied = typeof value === 'object' ? copyChecked(value, 1) : notPlain;
    return copied === notPlain || Array.isArray(copied) ? null : (copied as Record<string, unknown> | null);
  } catch {
    return null;
  }
}

/** How deep events may nest (see `findNotJson`). */
const deepest = 1_000;
const notPlain = Symbol('not plain JSON');

function ownChecked(values: Record<string, unknown>, depth: number): boolean {
  for (const key in values) {
    const value = values[key];
    if (typeof value === 'string' || typeof value === 'boolean') continue;
    if (!Object.hasOwn(values, key)) return false;
    if (value === undefined) delete values[key];
    else {
      const copied = copyChecked(value, depth + 1);
      if (copied === notPlain) return false;
      values[key] = copied;
    }
  }
  return true;
}

function copyChecked(value: unknown, depth: number): unknown {
  if (typeof value === 'string' || typeof value === 'boolean' || value === null) return value;
  if (typeof value === 'number') return Number.isFinite(value) ? value : notPlain;
  if (typeof value !== 'object' || depth > deepest) return notPlain;
  if (typeof (value as { toJSON?: unknown }).toJSON === 'function') return notPlain;
  if (Array.isArray(value)) return copyItems(value, depth);
  if (!isPlainObject(value)) return isLoggedText(value) ? String(value) : notPlain;
  const copied = { ...value };
  return ownChecked(copied, depth) ? copied : notPlain;
}

/** A `LoggedString`, of any version of its package: a text that knows its event. */
function isLoggedText(value: object): boolean {
  return value instanceof String && 'messageId' in value;
}

function copyItems(items: readonly unknown[], depth: number): unknown {
  const copied: unknown[] = [];
  for (let index = 0; index < items.length; index += 1) {
    const item = copyChecked(items[index], depth + 1);
    if (item === notPlain) return notPlain;
    copied.push(item);
  }
  return copied;
}

/** Replaces each value of an object by a copy, and deletes the keys whose value is `undefined`. */
export function ownValues<T extends object>(target: T): T {
  const values = target as Record<string, unknown>;
  for (const key in values) {
    const value = values[key];
    if (typeof value === 'string') continue;
    if (value === undefined) delete values[key];
    else if (typeof value === 'object' && Object.hasOwn(values, key)) values[key] = copy(value);
  }
  return target;
}

function copy(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => copy(item));
  // Spreading keeps a key named `__proto__` as a key, and is faster than copying key by key.
  return ownValues({ ...value });
}
