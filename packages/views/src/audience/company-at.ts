import type { LogIndex } from '../log/log-index.ts';

/** From the position of its first event up to that of its end. */
interface Presence {
  readonly agentId: string;
  readonly from: number;
  readonly to: number;
}

const takesPart = /^(agent|user):/;
const presences = new WeakMap<LogIndex, readonly Presence[]>();

/**
 * The ids of the agents that could take part at a position, in the order of their first events: they were created or had
 * an event of their own before it, and had not ended.
 */
export function companyAt(index: LogIndex, position: number): string[] {
  return presencesOf(index).flatMap(({ agentId, from, to }) =>
    from <= position && position < to ? [agentId] : [],
  );
}

function presencesOf(index: LogIndex): readonly Presence[] {
  const known = presences.get(index);
  if (known !== undefined) return known;
  const from = new Map<string, number>();
  const to = new Map<string, number>();
  for (const { event, position } of index.nodes) {
    const { type, agentId = '' } = event;
    if (!takesPart.test(type)) continue;
    if (!from.has(agentId)) from.set(agentId, position);
    if (type === 'agent:terminated') to.set(agentId, position);
  }
  const found = [...from].map(([agentId, first]) => ({
    agentId,
    from: first,
    to: to.get(agentId) ?? Infinity,
  }));
  presences.set(index, found);
  return found;
}
