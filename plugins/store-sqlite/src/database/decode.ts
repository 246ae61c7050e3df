import { type CapturedEvent, findNotJson } from '@hansard/events';
import type { StoreError } from '@hansard/provider';
import { corrupt } from '../sqlite-errors.ts';
import type { LineRow } from './statements.ts';

/** No shorter text nests deeper than an event may. */
const shortestTooDeep = 2_000;

/** The event of a row. @throws STORE_CORRUPT */
export function decodeLine({ line, position }: LineRow, file: string): CapturedEvent {
  const what = `the event at position ${position}`;
  const event = decodeJson<CapturedEvent>(line, what, file, { position });
  if (line.length < shortestTooDeep || findNotJson(event) === null) return event;
  throw corrupt(file, `${what} is nested too deeply, or has a number that JSON cannot hold`, {
    details: { position },
  });
}

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

export function eventMissing(position: number, file: string): StoreError {
  return corrupt(file, `the event at position ${position} is missing`, { details: { position } });
}
