import type { CapturedEvent } from '@hansard/events';
import { corrupt } from '../sqlite-errors.ts';

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

/** The event of a stored line; null if the line is not one. */
export function decodeEvent(line: unknown): CapturedEvent | null {
  if (typeof line !== 'string') return null;
  try {
    const value = JSON.parse(line) as Partial<CapturedEvent> | null;
    return typeof value?.id === 'string' && typeof value.type === 'string' ? (value as CapturedEvent) : null;
  } catch {
    return null;
  }
}
