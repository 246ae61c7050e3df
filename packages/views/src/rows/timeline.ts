import type { CapturedEvent } from '@hansard/events';
import { AgentNames } from '../agents/agent-names.ts';
import { type EventLine, eventLine } from './event-line.ts';

/** One event in the order of the log. */
export interface TimelineRow {
  readonly position: number;
  readonly event: CapturedEvent;
  /** The event as the parts of one line, with the agent's name if it is known. */
  readonly line: EventLine;
  /** The role of the dispatch, for rows of several dispatches. */
  readonly role?: string;
}

/** All events in the order of the log. */
export function timelineOf(events: readonly CapturedEvent[]): TimelineRow[] {
  const names = new AgentNames();
  return events.map((event, position) => ({ position, event, line: eventLine(event, names) }));
}
