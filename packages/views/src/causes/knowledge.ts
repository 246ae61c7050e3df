import type { CapturedEvent } from '@hansard/events';
import { agentNamed, type LogAgent } from '../log/log-agents.ts';
import { type LogIndex, nodeNamed } from '../log/log-index.ts';
import type { LogMessage, LogNode } from '../log/log-node.ts';
import type { HowHeard, Speaker } from '../log/saying.ts';
import { givenMessages } from './given-messages.ts';

/** A message that an agent had received: heard from a speaker, or the result of a tool call. */
export interface KnownRow {
  readonly id: string;
  readonly event: CapturedEvent;
  readonly kind: 'heard' | 'received';
  readonly text: string;
  /** Its ways to the agent, each from the speaker over all deliveries. Several if it was compiled from several sayings. */
  readonly paths: readonly (readonly KnowledgeStep[])[];
}

export interface KnowledgeStep {
  readonly id: string;
  /** Where the content was at this step. */
  readonly kind: Speaker['kind'] | 'tool';
  /** Null: not an agent, or not recorded. */
  readonly agentId: string | null;
  readonly how: HowHeard | 'said' | 'returned';
}

/** An agent that a saying never reached. */
export interface NeverHeardRow {
  readonly agent: LogAgent;
  /** The id of the decision that withheld it; null: it was not sent to this agent. */
  readonly withheldBy: string | null;
}

/**
 * The messages that an agent, named by id or name, had received when the event or message `atId` happened; without
 * `atId`, by the end of the log. If `atId` is an answer of this agent, the messages that its model was given, as recorded.
 *
 * @throws TypeError for an agent or an id that is not in the log
 */
export function knownBy(index: LogIndex, agent: string, atId?: string): KnownRow[] {
  const { agentId } = agentNamed(index, agent);
  const end =
    atId === undefined ? Number.POSITIVE_INFINITY : lastKnownAt(index, agentId, nodeNamed(index, atId));
  return (index.transcripts.get(agentId) ?? [])
    .filter(({ main, entry }) => entry.message.role !== 'assistant' && main.position <= end)
    .map((message) => {
      const { main, entry } = message;
      return {
        id: main.event.id,
        event: main.event,
        kind: entry.message.role === 'tool' ? 'received' : 'heard',
        text: entry.message.content ?? '',
        paths: pathsTo(index, message),
      };
    });
}

function lastKnownAt(index: LogIndex, agentId: string, at: LogNode): number {
  const isOwn = (at.event.agentId ?? '') === agentId;
  return (isOwn ? givenMessages(index).lastGivenTo(at) : undefined) ?? at.position;
}

/**
 * The agents that a saying, named by its id or the id of a delivery, never reached. The speaker is not among them.
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
  return [...index.agents.values()]
    .filter(({ agentId }) => !reached.has(agentId))
    .map((agent) => ({ agent, withheldBy: withheld.get(agent.agentId) ?? null }));
}

function pathsTo(index: LogIndex, { main, entry }: LogMessage): KnowledgeStep[][] {
  if (index.sayingOf(main) !== null) return [pathTo(index, main)];
  const compiled = (entry.cause ?? []).flatMap((id) => {
    const cause = index.find(id);
    const saying = cause === null ? null : index.sayingOf(cause);
    const hearing = saying?.hearings.find(({ event }) => event === main.event);
    if (cause === null || hearing === undefined) return [];
    return [[...pathTo(index, cause), arrival(main, hearing.how)]];
  });
  if (compiled.length > 0) return compiled;
  const { id } = (index.callOf(main) ?? main).event;
  const origin: KnowledgeStep =
    entry.message.role === 'tool'
      ? { id, kind: 'tool', agentId: null, how: 'returned' }
      : { id, kind: 'system', agentId: null, how: 'said' };
  return [[origin, arrival(main, 'same')]];
}

function arrival({ event: { id, agentId = '' } }: LogNode, how: HowHeard): KnowledgeStep {
  return { id, kind: 'agent', agentId, how };
}

/** The steps from the speaker over each delivery to this one. */
function pathTo(index: LogIndex, node: LogNode): KnowledgeStep[] {
  const saying = index.sayingOf(node);
  if (saying === null) return [];
  const { kind, agentId = null } = saying.speaker;
  const steps: KnowledgeStep[] = [];
  for (let current: LogNode | null = node; current !== null; current = index.substanceOf(current)) {
    const { event } = current;
    const hearing = index.hearingOf(current);
    // A prompt that one call gave to several agents has its first delivery as its event. The others did not get it from there.
    if (event === saying.event && current !== node) break;
    if (hearing !== null) steps.push(arrival(current, hearing.how));
  }
  steps.push({ id: saying.id, kind, agentId, how: 'said' });
  return steps.reverse();
}
