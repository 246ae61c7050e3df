import { deliveryRecordOf } from '../audience/delivery-record.ts';
import type { LogAgent } from '../log/log-agents.ts';
import type { LogIndex } from '../log/log-index.ts';
import { type HowHeard, type Saying, speakerIdOf } from '../log/saying.ts';

/** A row for each thing that was said, a column for each agent that said or heard something. */
export interface HearingMatrix {
  /** In the order of their first events. */
  readonly agents: readonly LogAgent[];
  readonly rows: readonly HearingRow[];
}

export interface HearingRow {
  readonly saying: Saying;
  /** By agent id. An agent that is absent neither said nor heard it, or is in `notKnown`. */
  readonly cells: ReadonlyMap<string, HearingCell>;
  /** The ids of the agents without a cell of which the log does not record whether they heard it. */
  readonly notKnown: readonly string[];
}

/**
 * `said` if the agent said it, `sent` if it was sent to the agent and no delivery is linked to it, then one entry for each delivery to the agent or decision
 * that withheld it, in the order of the log.
 */
export type HearingCell = readonly (HowHeard | 'said' | 'sent')[];

/** Which agents said and heard each saying of a log, and how. */
export function hearingMatrix(index: LogIndex): HearingMatrix {
  const present = new Set<string>();
  const record = deliveryRecordOf(index);
  const rows = index.sayings.map((saying): HearingRow => {
    const cells = new Map<string, (HowHeard | 'said' | 'sent')[]>();
    const speaker = speakerIdOf(saying.speaker);
    if (speaker !== null) cells.set(speaker, ['said']);
    for (const { agentId, how } of saying.hearings) {
      const cell = cells.get(agentId);
      if (cell === undefined) cells.set(agentId, [how]);
      else cell.push(how);
    }
    const { sentTo } = saying;
    if (sentTo !== undefined && index.agents.has(sentTo) && !cells.has(sentTo)) cells.set(sentTo, ['sent']);
    for (const id of cells.keys()) present.add(id);
    const notKnown = [...index.agents.keys()].filter(
      (agentId) => !cells.has(agentId) && !record.shows(agentId, saying.position),
    );
    return { saying, cells, notKnown };
  });
  return { agents: [...index.agents.values()].filter(({ agentId }) => present.has(agentId)), rows };
}
