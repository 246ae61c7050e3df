import type { LogAgent } from '../log/log-agents.ts';
import { type LogIndex, nodeNamed } from '../log/log-index.ts';
import { knowledgeOf } from './knowledge-of.ts';

/** An agent for which the log has no delivery of a saying. */
export interface NeverHeardRow {
  readonly agent: LogAgent;
  /** `not known`: the source does not record all that reaches this agent. */
  readonly answer: 'never' | 'not known';
  /** The id of the decision that withheld it; null: none. */
  readonly withheldBy: string | null;
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
  // An agent without an id is the dispatched agent.
  if (speaker.kind === 'agent') reached.add(speaker.agentId ?? '');
  const withheld = new Map(
    hearings.flatMap(({ agentId, how, via }) =>
      how === 'withheld' && via !== undefined ? [[agentId, via]] : [],
    ),
  );
  const answer = recordsHearing(index) ? 'never' : 'not known';
  return [...index.agents.values()]
    .filter(({ agentId }) => !reached.has(agentId))
    .map((agent): NeverHeardRow => {
      const withheldBy = withheld.get(agent.agentId) ?? null;
      return { agent, answer: withheldBy === null ? answer : 'never', withheldBy };
    });
}

/**
 * Whether a log has all that reaches its agents. A session records what each model was given. A log of deliveries names the
 * speaker or the content of some of them. An engine that keeps the context of its agents, which the dispatched agent
 * without an id is one of, gives them more than it reports.
 */
function recordsHearing(index: LogIndex): boolean {
  const answers = [...knowledgeOf(index).agents.values()].flatMap((agent) => [...agent.answers]);
  if (answers.some(({ basis }) => basis === 'recorded')) return true;
  if (index.agents.has('')) return false;
  return index.messages.some(({ main, entry: { message } }) => {
    const isFromAgent = message.role === 'user' && message.source?.kind === 'agent';
    return isFromAgent || (message.role !== 'assistant' && index.substanceOf(main) !== null);
  });
}
