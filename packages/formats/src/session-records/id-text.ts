import type { JsonValue } from '@hansard/events';

/** An id of a log, which is text or a number; undefined for any other value. */
export function idText(value: JsonValue | undefined): string | undefined {
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** The references of a log: an id, or a list of ids. */
export function references(value: JsonValue | undefined): string[] {
  return [value ?? null].flat().flatMap((item) => idText(item) ?? []);
}
