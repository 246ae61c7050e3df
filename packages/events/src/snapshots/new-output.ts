import type { EventLinks, NewEvent } from '../types/event.ts';
import { newEvent } from '../types/new-event.ts';
import { snapshot } from './snapshot.ts';

/**
 * An `agent:output` event with the values that an agent observed, one part per value. The values are copied now, so that
 * later changes to a value do not reach the log, even in a store that keeps objects.
 */
export function newOutput(
  values: readonly unknown[],
  fields: EventLinks & { readonly id?: string; readonly timestamp?: string } = {},
): NewEvent {
  return newEvent('agent:output', { parts: values.map(snapshot) }, fields);
}
