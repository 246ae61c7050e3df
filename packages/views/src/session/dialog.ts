import { audienceOf } from '../audience/audience-of.ts';
import { agentNamed } from '../log/log-agents.ts';
import type { LogIndex } from '../log/log-index.ts';
import { type Hearing, type Saying, speakerIdOf } from '../log/saying.ts';

/** One saying of a dialog. The audience has the hearings of the chosen agents, including those that were withheld. */
export interface DialogRow extends Omit<Saying, 'hearings'> {
  readonly audience: readonly Hearing[];
  /** The ids of the chosen agents that were present and did not receive it. */
  readonly missing: readonly string[];
  /** The ids of the chosen agents that were present and of which the log does not record whether they received it. */
  readonly notKnown: readonly string[];
  /** Whether every agent that was present received it, chosen or not. Null: not known. */
  readonly isPublic: boolean | null;
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
    return index.sayings.map((saying) => dialogRow(index, saying));
  }
  const chosen = new Set(agentIds.map((name) => agentNamed(index, name).agentId));
  const rows: DialogRow[] = [];
  for (const saying of index.sayings.filter((saying) => concerns(saying, chosen))) {
    const row = dialogRow(index, saying, chosen);
    const parties = new Set(row.audience.map(({ agentId }) => agentId));
    const speaker = chosenSpeaker(saying, chosen);
    if (speaker !== null) parties.add(speaker);
    const isShared = parties.size >= Math.min(2, chosen.size);
    const isAloud = speaker !== null && saying.kind === 'utterance';
    if (isShared || isAloud) rows.push(row);
  }
  return rows;
}

function dialogRow(index: LogIndex, saying: Saying, chosen?: ReadonlySet<string>): DialogRow {
  const { hearings, ...said } = saying;
  const isChosen = (agentId: string) => chosen?.has(agentId) ?? true;
  const { missing, notKnown, isPublic } = audienceOf(index, saying);
  const audience = firstOfEach(hearings.filter(({ agentId }) => isChosen(agentId)));
  return {
    ...said,
    audience,
    missing: missing.filter(isChosen),
    notKnown: notKnown.filter(isChosen),
    isPublic,
  };
}

function concerns(saying: Saying, chosen: ReadonlySet<string>): boolean {
  return chosenSpeaker(saying, chosen) !== null || saying.hearings.some(({ agentId }) => chosen.has(agentId));
}

function chosenSpeaker({ speaker }: Pick<Saying, 'speaker'>, chosen: ReadonlySet<string>): string | null {
  const agentId = speakerIdOf(speaker);
  return agentId !== null && chosen.has(agentId) ? agentId : null;
}

/**
 * A repeated delivery to an agent counts once, unless its text or the way it was heard differs. A delivery that the agent still has is preferred to one on a
 * branch that it left.
 */
function firstOfEach(hearings: readonly Hearing[]): Hearing[] {
  if (hearings.length < 2) return [...hearings];
  const kept = new Map<string, Hearing>();
  for (const hearing of hearings) {
    const { agentId, text, how, fate } = hearing;
    const key = JSON.stringify([agentId, text, how]);
    const known = kept.get(key);
    if (known === undefined || (known.fate !== undefined && fate === undefined)) kept.set(key, hearing);
  }
  return [...kept.values()];
}
