import type { JsonValue } from '@hansard/events';

/** What a log means by an id: text, or a number. Nothing stands for no id. */
export function idText(value: JsonValue | undefined): string | undefined {
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** What a log refers to: an id, or a list of them. */
export function references(value: JsonValue | undefined): string[] {
  return [value ?? null].flat().flatMap((item) => idText(item) ?? []);
}
