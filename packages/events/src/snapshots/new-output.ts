import type { EventLinks, NewEvent } from '../types/event.ts';
import { newEvent } from '../types/new-event.ts';
import { snapshot } from './snapshot.ts';

/** A text that knows its event: a `LoggedString` of `@hansard/provider`. */
function isLoggedText(value: unknown): value is string {
  try {
    return value instanceof String && 'messageId' in value;
  } catch {
    // A proxy that was revoked, or that throws. `snapshot` keeps its printed form.
    return false;
  }
}

/**
 * An `agent:output` event with the values that an agent observed, one part per value. The values are copied now, so that
 * later changes to a value do not reach the log, even in a store that keeps objects. A `LoggedString` is observed as its text.
 */
export function newOutput(
  values: readonly unknown[],
  fields: EventLinks & { readonly id?: string; readonly timestamp?: string | null } = {},
): NewEvent {
  return newEvent(
    'agent:output',
    { parts: values.map((value) => snapshot(isLoggedText(value) ? String(value) : value)) },
    fields,
  );
}
