import type { LogIndex } from '../log/log-index.ts';
import { PresentAgents } from './present-agents.ts';

/** From the position of the event with which it came up to that of its end. */
interface Presence {
  readonly agentId: string;
  readonly from: number;
  to: number;
}

const presences = new WeakMap<LogIndex, readonly Presence[]>();

/** The ids of the agents that can take part at a position, in the order in which they came. */
export function companyAt(index: LogIndex, position: number): string[] {
  return presencesOf(index).flatMap(({ agentId, from, to }) =>
    from <= position && position < to ? [agentId] : [],
  );
}

function presencesOf(index: LogIndex): readonly Presence[] {
  const known = presences.get(index);
  if (known !== undefined) return known;
  const found: Presence[] = [];
  const latest = new Map<string, Presence>();
  const present = new PresentAgents();
  for (const { event, position } of index.nodes) {
    const { agentId = '' } = event;
    const wasPresent = present.has(agentId);
    present.observe(event);
    if (present.has(agentId) === wasPresent) continue;
    const presence = latest.get(agentId);
    if (wasPresent && presence !== undefined) presence.to = position;
    if (wasPresent) continue;
    const begun = { agentId, from: position, to: Infinity };
    latest.set(agentId, begun);
    found.push(begun);
  }
  presences.set(index, found);
  return found;
}
