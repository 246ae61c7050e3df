import type { CapturedEvent } from '@hansard/events';
import type { Basis } from '@hansard/prompt';
import { deliveryRecordOf } from '../audience/delivery-record.ts';
import { agentNamed, type LogAgent } from '../log/log-agents.ts';
import { type LogIndex, nodeNamed } from '../log/log-index.ts';
import { type LogNode, wordsIn } from '../log/log-node.ts';
import { type Fate, type HowHeard, type Saying, type Speaker, speakerIdOf } from '../log/saying.ts';
import { knowledgeOf } from './knowledge-of.ts';
import { type ItemState, type KnownItem, textOfItem } from './known-item.ts';

/** Something that an agent had received. */
export interface KnownRow {
  readonly id: string;
  readonly event: CapturedEvent;
  /**
   * `heard`: a message or a system prompt. `given`: a message of the transcript with which it began. `received`: the result of a tool call. `observed`: observed values. `summary`: of
   * a compaction.
   */
  readonly kind: 'heard' | 'given' | 'received' | 'observed' | 'summary';
  readonly text: string;
  /** How it is known that the agent's model was given it. */
  readonly basis: Basis;
  /** Whether the prompt still had it. */
  readonly state: ItemState;
  /**
   * Its ways to the agent, each from the speaker over all deliveries. Several if it was compiled from several sayings; empty
   * if its origin is not recorded.
   */
  readonly paths: readonly (readonly KnowledgeStep[])[];
  /** Why the later prompts of the author of what was said do not have it. Absent: they have it, or nobody of this log said it. */
  readonly saidFate?: Fate;
}

export interface KnowledgeStep {
  readonly id: string;
  /** Where the content was at this step. */
  readonly kind: Speaker['kind'] | 'tool';
  /** Null: not an agent, or not recorded. */
  readonly agentId: string | null;
  /** `created`: the call of this agent created the one that begins with it. `passed`: it passed on what another one said. */
  readonly how: HowHeard | 'said' | 'created' | 'passed' | 'returned' | 'observed';
}

/**
 * All that an agent, named by id or name, had received when the event or message `atId` happened; without `atId`, by the end
 * of the log. If `atId` is an answer of this agent, what had arrived when its model was called; `state` says what was in
 * its prompt.
 *
 * @throws TypeError for an agent or an id that is not in the log
 */
export function knownBy(index: LogIndex, agent: string, atId?: string): KnownRow[] {
  const { agentId } = agentNamed(index, agent);
  const known = knowledgeOf(index).agents.get(agentId);
  const at = atId === undefined ? null : nodeNamed(index, atId);
  if (known === undefined) return [];
  const answer = at === null || (at.event.agentId ?? '') !== agentId ? null : knowledgeOf(index).answerOf(at);
  if (answer !== null)
    return answer.arrived.flatMap((item) => rowOf(index, item, answer.basis, answer.stateOf(item)));
  const end = at?.position ?? Number.POSITIVE_INFINITY;
  const before = [...known.answers].filter(({ message }) => message.main.position <= end);
  const basis = before.every((one) => one.basis === 'recorded') ? 'recorded' : 'reconstructed';
  const { items, stateOf } = known.receivedAt(end);
  return items.flatMap((item) => rowOf(index, item, basis, stateOf(item)));
}

/** An earlier answer of the agent itself is not a row. */
function rowOf(index: LogIndex, item: KnownItem, basis: Basis, state: ItemState): KnownRow[] {
  if (item.kind === 'answer') return [];
  const { event } = item.node;
  const saidFate = index.sayingOf(item.node)?.fate;
  return [
    {
      id: event.id,
      event,
      kind: kinds[item.kind],
      text: textOfItem(item),
      basis,
      state,
      paths: pathsTo(index, item),
      ...(saidFate === undefined ? {} : { saidFate }),
    },
  ];
}

const kinds = {
  system: 'heard',
  given: 'given',
  message: 'heard',
  result: 'received',
  output: 'observed',
  summary: 'summary',
} as const;

function pathsTo(index: LogIndex, { node, message }: KnownItem): KnowledgeStep[][] {
  if (node.event.type === 'agent:given' || node.event.type === 'agent:rejected') return [];
  if (message === null) return observedPaths(index, node);
  const { main, entry } = message;
  if (index.sayingOf(main) !== null) return [pathTo(index, main)];
  const compiled = (entry.cause ?? []).flatMap((id) => {
    const cause = index.find(id);
    const saying = cause === null ? null : index.sayingOf(cause);
    const hearing = saying?.hearings.find(({ event }) => event === main.event);
    if (cause === null || hearing === undefined) return [];
    return [[...pathTo(index, cause), arrival(main, hearing.how)]];
  });
  if (compiled.length > 0) return compiled;
  const creator = creatorOf(index, main);
  if (creator !== null) return [[creator, arrival(main, 'same')]];
  const { id } = (index.callOf(main) ?? main).event;
  const origin: KnowledgeStep =
    entry.message.role === 'tool'
      ? { id, kind: 'tool', agentId: null, how: 'returned' }
      : { id, kind: 'system', agentId: null, how: 'said' };
  return [[origin, arrival(main, 'same')]];
}

/** The agent whose tool call created the one that begins with a system prompt. */
function creatorOf(index: LogIndex, prompt: LogNode): KnowledgeStep | null {
  const [cause, ...others] = [index.creationWith(prompt)?.event.cause ?? []].flat();
  const call = cause === undefined || others.length > 0 ? null : (index.find(cause)?.event ?? null);
  if (call?.type !== 'agent:tool_call') return null;
  return { id: call.id, kind: 'agent', agentId: call.agentId ?? '', how: 'created' };
}

/** From the tool calls that an observation has as its causes, if they are recorded. */
function observedPaths(index: LogIndex, node: LogNode): KnowledgeStep[][] {
  if (node.event.type !== 'agent:output') return [];
  return [node.event.cause ?? []].flat().flatMap((id) => {
    const cause = index.find(id);
    if (cause?.event.type !== 'agent:tool_call') return [];
    const origin = { id: cause.event.id, kind: 'tool', agentId: null, how: 'returned' } as const;
    return [[origin, arrival(node, 'observed')]];
  });
}

function arrival({ event: { id, agentId = '' } }: LogNode, how: HowHeard | 'observed'): KnowledgeStep {
  return { id, kind: 'agent', agentId, how };
}

/** The steps from the first speaker over each delivery, and each agent that passed it on, to this one. */
function pathTo(index: LogIndex, node: LogNode): KnowledgeStep[] {
  const saying = index.sayingOf(node);
  if (saying === null) return [];
  const { speaker, event, kind } = saying;
  const carried = kind === 'utterance' ? index.substanceOf(saying) : null;
  const before = carried === null ? [] : pathTo(index, carried);
  const agentId = speaker.agentId === undefined ? null : speakerIdOf(speaker);
  const how = before.length > 0 ? 'passed' : 'said';
  const steps: KnowledgeStep[] = [...before, { id: saying.id, kind: speaker.kind, agentId, how }];
  const deliveries: LogNode[] = [];
  for (let current: LogNode | null = node; current !== null; current = index.substanceOf(current)) {
    // A prompt that one call gave to several agents has its first delivery as its event. The others did not get it from there.
    if (current.event === event && current !== node) break;
    deliveries.push(current);
  }
  for (const delivery of deliveries.reverse()) {
    const hearing = index.hearingOf(delivery);
    if (hearing === null) continue;
    const last = steps.at(-1);
    const sender = senderOf(index, delivery);
    const isFromLast = sender === last?.agentId && (last?.how === 'said' || last?.how === 'passed');
    if (sender !== null && !isFromLast)
      steps.push({ id: delivery.event.id, kind: 'agent', agentId: sender, how: 'passed' });
    steps.push(arrival(delivery, hearing.how));
  }
  return steps;
}

/** The agent of this log that a delivery names as its sender. */
function senderOf(index: LogIndex, node: LogNode): string | null {
  const source = index.messageOf(node)?.entry.message.source;
  return source?.agentId === undefined ? null : speakerIdOf(source);
}

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
