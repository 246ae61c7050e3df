import type { CapturedEvent } from '@hansard/events';
import { type EventLine, eventLine } from './event-line.ts';
import { isReadableAs } from './is-readable-as.ts';
import { neutraliseControlsInLine } from './neutralise-controls.ts';

/** One event in the order of the log. */
export interface TimelineRow {
  readonly position: number;
  readonly event: CapturedEvent;
  /** The event as the parts of one line; the agent by its name where it has one. */
  readonly line: EventLine;
  /** Whose it is, where the rows of several dispatches are mixed. */
  readonly role?: string;
}

/** Everything that happened, in order. */
export function timelineOf(events: readonly CapturedEvent[]): TimelineRow[] {
  const names = new Map<string, string>();
  return events.map((event, position) => {
    const { agentId = '' } = event;
    if (isReadableAs(event, 'agent:created') && event.data.name !== undefined) {
      names.set(agentId, neutraliseControlsInLine(event.data.name));
    }
    const line = eventLine(event);
    return { position, event, line: { ...line, agent: names.get(agentId) ?? line.agent } };
  });
}
