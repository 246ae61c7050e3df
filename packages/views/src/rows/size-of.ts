import type { JsonValue } from '@hansard/events';

/** About how many characters a value has as JSON. */
export function sizeOf(value: JsonValue | undefined): number {
  if (typeof value === 'string') return value.length + 2;
  if (typeof value !== 'object' || value === null) return 6;
  let size = 2;
  if (Array.isArray(value)) for (const item of value) size += sizeOf(item);
  else for (const key in value) size += key.length + 4 + sizeOf(value[key]);
  return size;
}
