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
