import type { CapturedEvent, JsonValue } from '@hansard/provider';

/** The words of a text: runs of letters and digits, in lower case. */
export function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}

/** The words of all strings in an event's data, at any depth. */
export function wordsOfEvent(event: CapturedEvent): Set<string> {
  return new Set(stringsIn(event.data).flatMap(wordsOf));
}

function stringsIn(value: JsonValue | undefined): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap(stringsIn);
}
