export type JsonValue = string | number | boolean | null | JsonValue[] | JsonObject;

/** A key whose value is `undefined` counts as absent, as it does for `JSON.stringify`. */
export type JsonObject = { [key: string]: JsonValue | undefined };

export interface NotJson {
  /** The path, such as `data.input.items[3]`. */
  readonly path: string;
  readonly value: unknown;
}

/** The maximum nesting of a value. Deeper values overflow the stack of `JSON.stringify` and other readers; so do cycles. */
const deepest = 1_000;

/** The first thing in a value that JSON cannot hold unchanged, or null. Depth first, in key order. */
export function findNotJson(value: unknown, path = '', depth = 0): NotJson | null {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return null;
    case 'number':
      return Number.isFinite(value) ? null : { path, value };
    case 'object':
      break;
    default:
      return { path, value };
  }
  if (value === null) return null;
  if (depth > deepest) return { path: `${path.slice(0, 60)}…`, value };
  if (typeof (value as { toJSON?: unknown }).toJSON === 'function') return { path, value };
  if (Array.isArray(value)) return findInArray(value, path, depth);
  if (!isPlainObject(value)) return { path, value };
  for (const key in value) {
    const child = value[key];
    if (child === undefined) continue;
    const found = findNotJson(child, path === '' ? key : `${path}.${key}`, depth + 1);
    if (found !== null && Object.hasOwn(value, key)) return found;
  }
  return null;
}

/** Whether `findNotJson` finds nothing. Faster, because it builds no paths. */
export function holdsOnlyJson(value: unknown, depth = 0): boolean {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return true;
    case 'number':
      return Number.isFinite(value);
    case 'object':
      break;
    default:
      return false;
  }
  if (value === null) return true;
  if (depth > deepest || typeof (value as { toJSON?: unknown }).toJSON === 'function') return false;
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index += 1)
      if (!holdsOnlyJson(value[index], depth + 1)) return false;
    return true;
  }
  if (!isPlainObject(value)) return false;
  // Every event passes here: for-in is twice as fast as Object.keys. Inherited keys are checked only if they matter.
  for (const key in value) {
    const child = value[key];
    if (child === undefined || typeof child === 'string') continue;
    if (!holdsOnlyJson(child, depth + 1) && Object.hasOwn(value, key)) return false;
  }
  return true;
}

export function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

function findInArray(items: readonly unknown[], path: string, depth: number): NotJson | null {
  for (let index = 0; index < items.length; index += 1) {
    const found = findNotJson(items[index], `${path}[${index}]`, depth + 1);
    if (found !== null) return found;
  }
  return null;
}

/** Freezes a value with everything in it. JSON and other trees only: a cycle never ends. */
export function freezeDeep<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value;
  for (const item of Object.values(value)) freezeDeep(item);
  return Object.freeze(value);
}

/** Whether two values that JSON can hold are equal: the same values, even with their keys in another order. An undefined key is absent. */
export function isSameJson(one: unknown, other: unknown): boolean {
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null)
    return one === other;
  if (Array.isArray(one) !== Array.isArray(other)) return false;
  const [ours, theirs] = [one, other].map((value) =>
    Object.entries(value).filter(([, item]) => item !== undefined),
  ) as [[string, unknown][], [string, unknown][]];
  if (ours.length !== theirs.length) return false;
  return ours.every(
    ([key, item]) => Object.hasOwn(other, key) && isSameJson(item, (other as JsonObject)[key]),
  );
}
