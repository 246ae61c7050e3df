import type { CapturedEvent } from '@hansard/events';
import { describeEvent, type EventDescription } from './describe-event.ts';
import { formatTime } from './format.ts';
import { neutraliseControlsInLine } from './neutralise-controls.ts';

/** One event as the parts of one line. Every part is on one line and holds nothing that a terminal would obey. */
export interface EventLine extends EventDescription {
  /** `HH:MM:SS`, UTC. */
  readonly time: string;
  /** The agent's id, or '' for the dispatched agent itself. */
  readonly agent: string;
}

/** One event, of whatever type, as the parts of one line. */
export function eventLine(event: CapturedEvent): EventLine {
  const { kind, target, text, ...rest } = describeEvent(event);
  return {
    time: formatTime(event.timestamp),
    agent: neutraliseControlsInLine(event.agentId ?? ''),
    kind: neutraliseControlsInLine(kind),
    target: neutraliseControlsInLine(target),
    text: neutraliseControlsInLine(text),
    ...rest,
  };
}
