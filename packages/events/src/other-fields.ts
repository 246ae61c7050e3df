import type { JsonObject, JsonValue } from './json/json.ts';
import { eventFields } from './types/event.ts';

/** The fields that every event can have. */
export const eventKeys: ReadonlySet<string> = new Set([...Object.keys(eventFields), 'data']);

/** The fields of an event other than those that every event can have; null: none. */
export function otherFieldsOf(event: object): JsonObject | null {
  let others: [string, JsonValue][] | null = null;
  for (const key in event) {
    if (eventKeys.has(key)) continue;
    const value = (event as JsonObject)[key];
    if (value !== undefined) others = [...(others ?? []), [key, value]];
  }
  return others === null ? null : Object.fromEntries(others);
}

/** The event without the fields that `otherFieldsOf` gives. */
export function withoutOtherFields<E extends object>(event: E): E {
  return Object.fromEntries(Object.entries(event).filter(([key]) => eventKeys.has(key))) as E;
}

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
