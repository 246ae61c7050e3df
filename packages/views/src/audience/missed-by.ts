import { agentLabel } from '../agents/agent-label.ts';
import type { LogIndex } from '../log/log-index.ts';
import type { DialogRow } from '../session/dialog.ts';

/** The most names of a line. */
const mostNames = 4;

/**
 * The agents that were present and did not hear what others heard, in words: `Jack, Jill` or `7 others`. Null: there are none, or
 * nobody heard it. What a hook withheld has a line of its own.
 */
export function missedBy(index: LogIndex, { audience, missing }: DialogRow): string | null {
  if (!audience.some(({ how }) => how !== 'withheld')) return null;
  const withheld = new Set(audience.flatMap(({ agentId, how }) => (how === 'withheld' ? [agentId] : [])));
  const others = missing.filter((agentId) => !withheld.has(agentId));
  if (others.length === 0) return null;
  if (others.length > mostNames) return `${others.length} others`;
  return others.map((agentId) => agentLabel(index, agentId)).join(', ');
}
