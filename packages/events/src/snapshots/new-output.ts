import type { EventLinks, NewEvent } from '../types/event.ts';
import { newEvent } from '../types/new-event.ts';
import { snapshot } from './snapshot.ts';

/**
 * What an agent observed, as an `agent:output` event to be recorded: a part for each value, copied now, so that no later
 * change of a value reaches the log, in a store that keeps objects no more than in one that writes files.
 */
export function newOutput(
  values: readonly unknown[],
  fields: EventLinks & { readonly id?: string; readonly timestamp?: string } = {},
): NewEvent {
  return newEvent('agent:output', { parts: values.map(snapshot) }, fields);
}
