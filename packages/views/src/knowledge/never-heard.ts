import { deliveryRecordOf } from '../audience/delivery-record.ts';
import type { LogAgent } from '../log/log-agents.ts';
import { type LogIndex, nodeNamed } from '../log/log-index.ts';
import { wordsIn } from '../log/log-node.ts';
import { type Saying, speakerIdOf } from '../log/saying.ts';

/** An agent for which the log has no delivery of a saying. */
export interface NeverHeardRow {
  readonly agent: LogAgent;
  /** `not known`: the log does not record all that reached this agent after the saying. */
  readonly answer: 'never' | 'not known';
  /** The id of the decision that withheld it; null: none. Where the answer is not known, it can have come another way. */
  readonly withheldBy: string | null;
  /**
   * A suggestion, where the answer is not known: the id of the first delivery to the agent that has the same words, and no link. Null:
   * there is none. Equal words do not show that it is the same content.
   */
  readonly sameWordsIn: string | null;
}

/**
 * The agents that a saying, named by its id or the id of a delivery, never reached, and those of which the log does not
 * record it. The speaker is not among them.
 *
 * @throws TypeError for an id that is not in the log, or that is neither a saying nor a delivery of one
 */
export function neverHeard(index: LogIndex, id: string): NeverHeardRow[] {
  const saying = index.sayingOf(nodeNamed(index, id));
  if (saying === null) throw new TypeError(`${id} is neither something said nor a delivery of it.`);
  const { speaker, hearings } = saying;
  const reached = new Set(hearings.flatMap(({ agentId, how }) => (how === 'withheld' ? [] : [agentId])));
  const speakerId = speakerIdOf(speaker);
  if (speakerId !== null) reached.add(speakerId);
  const withheld = new Map(
    hearings.flatMap(({ agentId, how, via }) =>
      how === 'withheld' && via !== undefined ? [[agentId, via]] : [],
    ),
  );
  const record = deliveryRecordOf(index);
  return [...index.agents.values()]
    .filter(({ agentId }) => !reached.has(agentId))
    .map((agent): NeverHeardRow => {
      const withheldBy = withheld.get(agent.agentId) ?? null;
      if (record.shows(agent.agentId, saying.position))
        return { agent, answer: 'never', withheldBy, sameWordsIn: null };
      return { agent, answer: 'not known', withheldBy, sameWordsIn: sameWordsIn(index, saying, agent) };
    });
}

function sameWordsIn(index: LogIndex, { text, position }: Saying, { agentId }: LogAgent): string | null {
  if (text === '') return null;
  const delivery = index.transcripts.get(agentId)?.find(({ main, entry: { message } }) => {
    if (main.event.type === 'agent:given') return false;
    const isUnlinked = message.role !== 'assistant' && main.event.substance === undefined;
    return isUnlinked && main.position > position && wordsIn(message) === text;
  });
  return delivery?.main.event.id ?? null;
}
