import type { LogAgent } from '../log/log-agents.ts';
import type { LogIndex } from '../log/log-index.ts';
import type { HowHeard, Saying } from '../log/saying.ts';

/** Everything that was said against all who took part in the talk. */
export interface HearingMatrix {
  /** Those who said or heard something, in the order in which they appear in the log. */
  readonly agents: readonly LogAgent[];
  readonly rows: readonly HearingRow[];
}

export interface HearingRow {
  readonly saying: Saying;
  /** By agent id, in the order of the log; an agent that is not in it never heard it. */
  readonly cells: ReadonlyMap<string, HearingCell>;
}

/** That an agent said it, then every way in which it was delivered to the agent or withheld from it. */
export type HearingCell = readonly (HowHeard | 'said')[];

/** Who said and who heard what, and how. */
export function hearingMatrix(index: LogIndex): HearingMatrix {
  const present = new Set<string>();
  const rows = index.sayings.map((saying): HearingRow => {
    const cells = new Map<string, (HowHeard | 'said')[]>();
    const { kind, agentId: speaker } = saying.speaker;
    if (kind === 'agent' && speaker !== undefined) cells.set(speaker, ['said']);
    for (const { agentId, how } of saying.hearings) {
      const cell = cells.get(agentId);
      if (cell === undefined) cells.set(agentId, [how]);
      else cell.push(how);
    }
    for (const id of cells.keys()) present.add(id);
    return { saying, cells };
  });
  return { agents: [...index.agents.values()].filter(({ agentId }) => present.has(agentId)), rows };
}
