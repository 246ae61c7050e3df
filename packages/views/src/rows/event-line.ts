import type { CapturedEvent } from '@hansard/events';
import { neutraliseControlsInLine } from '@hansard/events/plain';
import { formatTime } from '@hansard/facts';
import { AgentNames } from '../agents/agent-names.ts';
import { describeEvent, type EventDescription } from './describe-event.ts';

/** One event as the parts of one line. No part has a line break or an invisible control character. */
export interface EventLine extends EventDescription {
  /** `HH:MM:SS`, UTC. */
  readonly time: string;
  /** The agent's name, or its id if no name is known; '' for the dispatched agent itself. */
  readonly agent: string;
}

const noNames = new AgentNames();

/**
 * One event of any type as the parts of one line. `names` has the names that earlier events of its dispatch gave to agents,
 * and learns from this event; absent: agents are shown by their ids.
 */
export function eventLine(event: CapturedEvent, names?: AgentNames): EventLine {
  names?.learn(event);
  const nameAgent = (agentId = '') => (names ?? noNames).of(agentId);
  const { kind, target, text, ...rest } = describeEvent(event, nameAgent);
  return {
    time: formatTime(event.timestamp),
    agent: nameAgent(event.agentId),
    kind: neutraliseControlsInLine(kind),
    target: neutraliseControlsInLine(target),
    text: neutraliseControlsInLine(text),
    ...rest,
  };
}
