import type { CapturedEvent, JsonValue } from '@hansard/events';

/** Keys whose strings are names for machines or encoded bytes; nobody searches for those. */
const unsearchable = new Set(['toolCallId', 'signature', 'base64', 'encoded']);

/** The strings in an event's data, at any depth, one per line. */
export function searchableText(event: CapturedEvent): string {
  const found: string[] = [];
  collectStrings(event.data, found);
  return found.join('\n');
}

function collectStrings(value: JsonValue | undefined, found: string[]): void {
  if (typeof value === 'string') found.push(value);
  else if (Array.isArray(value)) for (const item of value) collectStrings(item, found);
  else if (typeof value === 'object' && value !== null) {
    for (const key of Object.keys(value)) if (!unsearchable.has(key)) collectStrings(value[key], found);
  }
}
