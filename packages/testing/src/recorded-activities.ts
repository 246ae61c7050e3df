import { type CapturedEvent, createIdSource, type Delta, type JsonObject, parseEvent } from '@hansard/events';
import type { AgentActivity } from '@hansard/provider';

export interface RecordedActivities {
  readonly events: CapturedEvent[];
  readonly deltas: Delta[];
}

/** The activities of an agent as a store would receive them. Throws if an event is not valid, or if two have one id. */
export function recorded(activities: readonly AgentActivity[]): RecordedActivities {
  const mint = createIdSource();
  const events: CapturedEvent[] = [];
  const deltas: Delta[] = [];
  for (const activity of activities) {
    if (activity.kind === 'delta') deltas.push(activity.delta);
    else events.push(parseEvent({ ...activity.event, id: activity.event.id ?? mint() }));
  }
  const ids = new Set(events.map(({ id }) => id));
  if (ids.size !== events.length) throw new Error('two events have the same id');
  return { events, deltas };
}

export function ofType(events: readonly CapturedEvent[], type: string): CapturedEvent[] {
  return events.filter((event) => event.type === type);
}

/** The data of the only event of a type. */
export function dataOf(events: readonly CapturedEvent[], type: string): JsonObject {
  const found = ofType(events, type);
  if (found.length !== 1) throw new Error(`${found.length} events of type ${type}, not 1`);
  return found[0]?.data ?? {};
}
