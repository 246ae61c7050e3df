/** The type of `definedOnly(values)`: a property that may be `undefined` in `T` is optional, and never `undefined`. */
export type DefinedOnly<T> = {
  [K in keyof T as undefined extends T[K] ? never : K]: T[K];
} & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};

/**
 * The properties whose value is not `undefined`, as a new object. `null` is a value and stays. For optional properties:
 * `{ id, ...definedOnly({ reason, by }) }` has no `reason` where the reason is `undefined`.
 */
export function definedOnly<T extends object>(values: T): DefinedOnly<T> {
  const defined: Record<string, unknown> = {};
  for (const key of Object.keys(values)) {
    const value = values[key as keyof T];
    if (value !== undefined) defined[key] = value;
  }
  return defined as DefinedOnly<T>;
}
