import type { JsonObject, JsonValue } from '@hansard/events';

const longestRaw = 16 * 1024;

/**
 * What could not be understood, to be kept in a notice: as it is up to 16 KB of JSON; of more, the text of its first
 * 16 KB, with the length of the whole in bytes.
 */
export function rawFields(value: JsonValue): JsonObject {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  // A character has at most three bytes of UTF-8 per unit of UTF-16, so most texts need no measuring.
  if (text.length * 3 <= longestRaw) return { raw: value };
  const bytes = Buffer.from(text, 'utf8');
  if (bytes.length <= longestRaw) return { raw: value };
  const start = new TextDecoder().decode(bytes.subarray(0, longestRaw), { stream: true });
  return { raw: start, rawBytes: bytes.length };
}
