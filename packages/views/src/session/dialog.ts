import { agentNamed } from '../log/log-agents.ts';
import type { LogIndex } from '../log/log-index.ts';
import type { Hearing, Saying } from '../log/saying.ts';

/** One substance of a dialog. Its audience is those of the chosen agents who heard it, or from whom it was withheld. */
export interface DialogRow extends Omit<Saying, 'hearings'> {
  readonly audience: readonly Hearing[];
}

/**
 * What was said among the chosen agents, named by id or name: each substance once, in order. What one of them said
 * aloud; what two of them shared, also where somebody else said it; and of one chosen agent, whatever it heard. Where
 * none are chosen: everything that was said, also by people and the system.
 *
 * @throws TypeError for an agent that is not in the log, or a name that several have
 */
export function dialogOf(index: LogIndex, agentIds?: readonly string[]): DialogRow[] {
  if (agentIds === undefined) {
    return index.sayings.map(({ hearings, ...saying }) => ({ ...saying, audience: firstOfEach(hearings) }));
  }
  const chosen = new Set(agentIds.map((name) => agentNamed(index, name).agentId));
  const rows: DialogRow[] = [];
  for (const { hearings, ...saying } of index.sayings.filter((saying) => concerns(saying, chosen))) {
    const audience = firstOfEach(hearings.filter(({ agentId }) => chosen.has(agentId)));
    const parties = new Set(audience.map(({ agentId }) => agentId));
    const speaker = chosenSpeaker(saying, chosen);
    if (speaker !== null) parties.add(speaker);
    const isShared = parties.size >= Math.min(2, chosen.size);
    const isAloud = speaker !== null && saying.kind === 'utterance';
    if (isShared || isAloud) rows.push({ ...saying, audience });
  }
  return rows;
}

function concerns(saying: Saying, chosen: ReadonlySet<string>): boolean {
  return chosenSpeaker(saying, chosen) !== null || saying.hearings.some(({ agentId }) => chosen.has(agentId));
}

function chosenSpeaker({ speaker }: Pick<Saying, 'speaker'>, chosen: ReadonlySet<string>): string | null {
  if (speaker.kind !== 'agent' || speaker.agentId === undefined) return null;
  return chosen.has(speaker.agentId) ? speaker.agentId : null;
}

/** An agent may be given the same again; it counts once, unless it came in other words or by a hook. */
function firstOfEach(hearings: readonly Hearing[]): Hearing[] {
  if (hearings.length < 2) return [...hearings];
  const seen = new Set<string>();
  return hearings.filter(({ agentId, text, how }) => {
    const key = JSON.stringify([agentId, text, how]);
    return seen.size < seen.add(key).size;
  });
}
