import type { CapturedEvent } from '@hansard/events';
import { agentNamed, type LogAgent } from '../log/log-agents.ts';
import { type LogIndex, nodeNamed } from '../log/log-index.ts';
import type { LogMessage, LogNode } from '../log/log-node.ts';
import type { HowHeard, Speaker } from '../log/saying.ts';
import { givenMessages } from './given-messages.ts';

/** Something that an agent had heard, or received from a tool. */
export interface KnownRow {
  readonly id: string;
  readonly event: CapturedEvent;
  readonly kind: 'heard' | 'received';
  readonly text: string;
  /** How it came to the agent: from who said it, over each delivery. Several where it was compiled from several. */
  readonly paths: readonly (readonly KnowledgeStep[])[];
}

export interface KnowledgeStep {
  readonly id: string;
  /** Who had it then. */
  readonly kind: Speaker['kind'] | 'tool';
  /** Null: it is no agent, or the log does not say which. */
  readonly agentId: string | null;
  readonly how: HowHeard | 'said' | 'returned';
}

/** An agent that something never reached. */
export interface NeverHeardRow {
  readonly agent: LogAgent;
  /** The id of the decision that withheld it; null: nobody meant it for this agent. */
  readonly withheldBy: string | null;
}

/**
 * What an agent, named by id or name, had heard and received when the event or message `atId` had happened; without it,
 * at the end of the log. Of an answer of the agent itself: what its model was given, as far as the log says that.
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
 * The agents of the log that something said, or the delivery of it, never reached. Who said it is not among them.
 *
 * @throws TypeError for an id that is not in the log, or that is nothing said
 */
export function neverHeard(index: LogIndex, id: string): NeverHeardRow[] {
  const saying = index.sayingOf(nodeNamed(index, id));
  if (saying === null) throw new TypeError(`${id} is nothing that was said, so nobody could hear it.`);
  const { speaker, hearings } = saying;
  const reached = new Set(hearings.flatMap(({ agentId, how }) => (how === 'withheld' ? [] : [agentId])));
  if (speaker.kind === 'agent' && speaker.agentId !== undefined) reached.add(speaker.agentId);
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

/** From who said it, over each delivery, to this one. */
function pathTo(index: LogIndex, node: LogNode): KnowledgeStep[] {
  const saying = index.sayingOf(node);
  if (saying === null) return [];
  const { kind, agentId = null } = saying.speaker;
  const steps: KnowledgeStep[] = [];
  for (let current: LogNode | null = node; current !== null; current = index.substanceOf(current)) {
    const { event } = current;
    const hearing = index.hearingOf(current);
    // A prompt that one call gave several agents is told by its first delivery, which is no station of the others.
    if (event === saying.event && current !== node) break;
    if (hearing !== null) steps.push(arrival(current, hearing.how));
  }
  steps.push({ id: saying.id, kind, agentId, how: 'said' });
  return steps.reverse();
}
