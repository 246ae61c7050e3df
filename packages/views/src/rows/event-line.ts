import type { CapturedEvent } from '@hansard/events';
import { AgentNames } from '../agents/agent-names.ts';
import { formatTime } from '../text/format.ts';
import { neutraliseControlsInLine } from '../text/neutralise-controls.ts';
import { describeEvent, type EventDescription } from './describe-event.ts';

/** One event as the parts of one line. Every part is on one line and holds nothing that a terminal would obey. */
export interface EventLine extends EventDescription {
  /** `HH:MM:SS`, UTC. */
  readonly time: string;
  /** The agent's name, or its id where no name is known; '' for the dispatched agent itself. */
  readonly agent: string;
}

const nobody = new AgentNames();

/**
 * One event, of whatever type, as the parts of one line. `names`: what the events of its dispatch before it told of
 * names, to which this one adds; absent: agents are called by their ids.
 */
export function eventLine(event: CapturedEvent, names?: AgentNames): EventLine {
  names?.learn(event);
  const callAgent = (agentId = '') => (names ?? nobody).of(agentId);
  const { kind, target, text, ...rest } = describeEvent(event, callAgent);
  return {
    time: formatTime(event.timestamp),
    agent: callAgent(event.agentId),
    kind: neutraliseControlsInLine(kind),
    target: neutraliseControlsInLine(target),
    text: neutraliseControlsInLine(text),
    ...rest,
  };
}
