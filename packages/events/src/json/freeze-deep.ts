/** Freezes a value with everything in it. JSON and other trees only: a cycle never ends. */
export function freezeDeep<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value;
  for (const item of Object.values(value)) freezeDeep(item);
  return Object.freeze(value);
}
