import type { JsonValue } from '@hansard/events';

/** The greatest depth of a value inside an event: the limit for JSON, minus room for the event around the value. */
const deepest = 980;

/** Whether an event can store a value that was parsed from JSON. JSON text can nest deeper and can hold numbers that parse as infinite. */
export function isStorable(value: JsonValue, depth = 0): boolean {
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value !== 'object' || value === null) return true;
  if (depth > deepest) return false;
  if (Array.isArray(value)) {
    for (const item of value) if (typeof item !== 'string' && !isStorable(item, depth + 1)) return false;
    return true;
  }
  for (const key in value) {
    const child = value[key];
    if (child !== undefined && typeof child !== 'string' && !isStorable(child, depth + 1)) return false;
  }
  return true;
}
