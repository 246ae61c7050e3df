import { agentNamed } from '../log/log-agents.ts';
import type { LogIndex } from '../log/log-index.ts';
import type { Hearing, Saying } from '../log/saying.ts';

/** One saying of a dialog. The audience has the hearings of the chosen agents, including those that were withheld. */
export interface DialogRow extends Omit<Saying, 'hearings'> {
  readonly audience: readonly Hearing[];
}

/**
 * The sayings among the chosen agents, named by id or name, each once, in the order of the log: the utterances of a chosen
 * agent; any saying that two of them said or heard; if only one agent is chosen, all that it said or heard. Without
 * `agentIds`: all sayings, including those of people and the system.
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
  // An agent without an id is the dispatched agent.
  const { kind, agentId = '' } = speaker;
  return kind === 'agent' && chosen.has(agentId) ? agentId : null;
}

/** A repeated delivery to an agent counts once, unless its text or the way it was heard differs. */
function firstOfEach(hearings: readonly Hearing[]): Hearing[] {
  if (hearings.length < 2) return [...hearings];
  const seen = new Set<string>();
  return hearings.filter(({ agentId, text, how }) => {
    const key = JSON.stringify([agentId, text, how]);
    return seen.size < seen.add(key).size;
  });
}
