import type { JsonValue } from '@hansard/events';

/** How deep a value may nest that becomes a part of an event: what JSON may nest, less what stands around it. */
const deepest = 980;

/** Whether an event can hold a value that was parsed from JSON: JSON text can nest deeper, and write infinite numbers. */
export function isKeepable(value: JsonValue, depth = 0): boolean {
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value !== 'object' || value === null) return true;
  if (depth > deepest) return false;
  if (Array.isArray(value)) {
    for (const item of value) if (typeof item !== 'string' && !isKeepable(item, depth + 1)) return false;
    return true;
  }
  for (const key in value) {
    const child = value[key];
    if (child !== undefined && typeof child !== 'string' && !isKeepable(child, depth + 1)) return false;
  }
  return true;
}
