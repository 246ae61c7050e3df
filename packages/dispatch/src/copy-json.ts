/** A deep copy of a JSON value, without the keys whose value is `undefined`. */
export function copyJson<T>(value: T): T {
  return copy(value) as T;
}

/** Makes what an object holds its own: each value becomes a copy, and keys whose value is `undefined` go. */
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
  // Spreading takes over a key named `__proto__` as a key, and is quicker than key by key.
  return ownValues({ ...value });
}
