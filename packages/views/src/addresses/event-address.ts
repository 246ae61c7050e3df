import { parseInstant, type TimeReading } from './instant.ts';

/** The name of an event in its dispatch, as a person writes it. */
export type EventAddress =
  | { readonly kind: 'position'; readonly position: number }
  /** The last event up to this time, in milliseconds since 1970. */
  | { readonly kind: 'time'; readonly until: number }
  | { readonly kind: 'latest' }
  /** The id of an event or a message, whole, its end or its beginning. */
  | { readonly kind: 'id'; readonly id: string };

/**
 * Reads an address: a bare whole number is a position, `@` and a time the last event up to the end of that time, `latest` the last
 * event, and any other text an id. Null for `@` and a text that is not a time, and for an empty text.
 */
export function parseAddress(text: string, clock: TimeReading): EventAddress | null {
  if (/^\d+$/.test(text)) return { kind: 'position', position: Number(text) };
  if (text === 'latest') return { kind: 'latest' };
  if (text === '') return null;
  if (!text.startsWith('@')) return { kind: 'id', id: text };
  const instant = parseInstant(text.slice(1), clock);
  return instant === null ? null : { kind: 'time', until: instant.to };
}
