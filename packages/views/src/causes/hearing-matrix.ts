import type { LogAgent } from '../log/log-agents.ts';
import type { LogIndex } from '../log/log-index.ts';
import type { HowHeard, Saying } from '../log/sayings.ts';

/** Everything that was said against all who took part in the talk. */
export interface HearingMatrix {
  /** Those who said or heard something, in the order in which they appear in the log. */
  readonly agents: readonly LogAgent[];
  readonly rows: readonly HearingRow[];
}

export interface HearingRow {
  readonly saying: Saying;
  /** By agent id; who is not in it never heard it. */
  readonly cells: ReadonlyMap<string, HowHeard | 'said'>;
}

/** Who said and who heard what, and how. */
export function hearingMatrix(index: LogIndex): HearingMatrix {
  const present = new Set<string>();
  const rows = index.sayings.map((saying): HearingRow => {
    const cells = new Map<string, HowHeard | 'said'>();
    for (const { agentId, how } of saying.hearings) {
      // Who heard it after all was not kept from it.
      if (!cells.has(agentId) || cells.get(agentId) === 'withheld') cells.set(agentId, how);
    }
    const { kind, agentId } = saying.speaker;
    if (kind === 'agent' && agentId !== undefined) cells.set(agentId, 'said');
    for (const id of cells.keys()) present.add(id);
    return { saying, cells };
  });
  return { agents: [...index.agents.values()].filter(({ agentId }) => present.has(agentId)), rows };
}
