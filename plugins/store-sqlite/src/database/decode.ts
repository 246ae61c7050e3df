import { type CapturedEvent, findNotJson } from '@hansard/events';
import { corrupt } from '../sqlite-errors.ts';

/** No shorter text nests deeper than an event may. */
const shortestTooDeep = 2_000;

/** Parses stored JSON; `what` names it in the error. @throws STORE_CORRUPT */
export function decodeJson<T>(
  text: string,
  what: string,
  file: string,
  details: Record<string, unknown> = {},
): T {
  try {
    return JSON.parse(text) as T;
  } catch (cause) {
    throw corrupt(file, `${what} is not JSON`, { cause, details });
  }
}

/** The event of a stored line; null if the line is not one, or nests deeper than any reader can follow. */
export function decodeEvent(line: unknown): CapturedEvent | null {
  if (typeof line !== 'string') return null;
  try {
    const value = JSON.parse(line) as Partial<CapturedEvent> | null;
    if (typeof value?.id !== 'string' || typeof value.type !== 'string') return null;
    const isReadable = line.length < shortestTooDeep || findNotJson(value) === null;
    return isReadable ? (value as CapturedEvent) : null;
  } catch {
    return null;
  }
}
