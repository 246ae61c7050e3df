import type { CapturedEvent, DispatchEnvelope } from '@hansard/events';
import { type TimelineRow, timelineOf } from '../rows/timeline.ts';

export interface TimelineSource {
  readonly envelope: DispatchEnvelope;
  readonly events: readonly CapturedEvent[];
}

/** A row of a timeline, with its dispatch. */
export interface TaskTimelineRow extends TimelineRow {
  readonly dispatchId: string;
  readonly role: string;
}

/** The events of several dispatches of a task, by time, then dispatch, then position. */
export function taskTimeline(dispatches: readonly TimelineSource[]): TaskTimelineRow[] {
  const rows = dispatches.flatMap(({ envelope: { dispatchId, role }, events }) =>
    timelineOf(events).map((row): TaskTimelineRow => ({ ...row, dispatchId, role })),
  );
  return rows.sort(
    (one, other) =>
      compare(one.event.timestamp, other.event.timestamp) ||
      compare(one.dispatchId, other.dispatchId) ||
      one.position - other.position,
  );
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
