import type { JsonObject, JsonValue } from '@hansard/events';

const longestRaw = 16 * 1024;

/**
 * The fields of a notice that keep a value which could not be mapped: the value itself up to 16 KB of JSON, otherwise
 * the first 16 KB as text and the total length in bytes.
 */
export function rawFields(value: JsonValue): JsonObject {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  // UTF-8 needs at most three bytes per UTF-16 unit, so short texts need no measuring.
  if (text.length * 3 <= longestRaw) return { raw: value };
  const bytes = Buffer.from(text, 'utf8');
  if (bytes.length <= longestRaw) return { raw: value };
  const start = new TextDecoder().decode(bytes.subarray(0, longestRaw), { stream: true });
  return { raw: start, rawBytes: bytes.length };
}
