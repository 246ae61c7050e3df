import type { JsonValue } from '@hansard/events';

/** A JSON value as text. Names in strings and keys are replaced before JSON escapes are added. */
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
