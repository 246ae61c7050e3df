import type { JsonValue } from '@hansard/events';

/** A JSON value as text, every string in it hidden before marks of JSON stand in it, keys too. */
export function hiddenJson(value: JsonValue, hide: (text: string) => string): string {
  if (Array.isArray(value)) return `[${value.map((item) => hiddenJson(item, hide)).join(',')}]`;
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value).map(
      ([key, item]) => `${JSON.stringify(hide(key))}:${hiddenJson(item ?? null, hide)}`,
    );
    return `{${entries.join(',')}}`;
  }
  if (typeof value === 'string') return JSON.stringify(hide(value));
  const plain = JSON.stringify(value);
  const hidden = hide(plain);
  return hidden === plain ? plain : JSON.stringify(hidden);
}
