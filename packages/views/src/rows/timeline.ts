import type { CapturedEvent } from '@hansard/events';
import { AgentNames } from '../agents/agent-names.ts';
import { type EventLine, eventLine } from './event-line.ts';

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
  const names = new AgentNames();
  return events.map((event, position) => ({ position, event, line: eventLine(event, names) }));
}
