import type { GivenOutcomes } from '@hansard/dispatch';
import { type EventData, type EventLinks, type NewEvent, newEvent, preview } from '@hansard/events';
import { givenEvent, takeApart } from '@hansard/prompt';
import type { LoggedString } from '@hansard/provider';
import type { SessionRecord } from '../log/session-record.ts';
import { invalidOption, sessionErrors } from '../session-errors.ts';
import type { AgentStart } from '../session-options.ts';
import { inWords } from './agent-record.ts';
import { asText, textOf } from './given-transcript.ts';

export interface AgentCreation {
  /** The event of the tool call that created the agent; of an agent of a hook, what brought it about. Absent: no tool did. */
  readonly cause?: string | readonly string[];
  readonly name?: string;
  readonly languageModel?: string;
  /** It is not the root, although no agent created it: an agent beside the root, or one of equals. Only without a cause. */
  readonly peer?: boolean;
  /** The hook that creates it for itself. */
  readonly hook?: string;
}

/** @throws SESSION_OPTION_INVALID for a name with nothing to read in it */
export function checkName(name: unknown): void {
  if (name === undefined || (typeof name === 'string' && name.trim() !== '')) return;
  throw invalidOption(
    'name',
    `The name of an agent must be a text that is not empty; it is ${preview(name)}. Leave it out for an agent without a name.`,
  );
}

export function agentCreated(
  agentId: string,
  { cause, name, languageModel, peer, hook }: AgentCreation,
  id: string,
): NewEvent {
  const data = {
    ...(name === undefined ? {} : { name }),
    ...(languageModel === undefined ? {} : { languageModel }),
    ...(peer === true ? { peer } : {}),
    ...(hook === undefined ? {} : { hook }),
  };
  return newEvent('agent:created', data, { id, agentId, ...(cause === undefined ? {} : { cause }) });
}

/** What is in the transcript of an agent before it hears anything. */
type Beginning = { readonly [Key in 'systemPrompt' | 'initPrompt']?: AgentStart[Key] | undefined } & {
  readonly priorOutcomes?: GivenOutcomes | undefined;
};

/** Creates an agent with one append: its `agent:created` and its system prompts are durable when this resolves. */
export async function createAgent(
  record: SessionRecord,
  creation: AgentCreation,
  beginning: Beginning,
): Promise<string> {
  const { agentId, events } = newAgent(record, creation, beginning);
  await record.log.append(events);
  return agentId;
}

/** Creates peers with one append. One without a model gets the session's. */
export async function createPeers(
  record: SessionRecord,
  peers: readonly AgentStart[],
  priorOutcomes?: GivenOutcomes,
): Promise<string[]> {
  const created = peers.map(({ systemPrompt, initPrompt, ...peer }) => {
    const languageModel = peer.languageModel ?? record.registry.defaultModel;
    const creation = { ...peer, ...(languageModel === null ? {} : { languageModel }), peer: true };
    return newAgent(record, creation, { systemPrompt, initPrompt, priorOutcomes });
  });
  await record.log.append(created.flatMap(({ events }) => events));
  return created.map(({ agentId }) => agentId);
}

function newAgent(
  { log, registry }: SessionRecord,
  creation: AgentCreation,
  { systemPrompt, initPrompt = [], priorOutcomes = { text: '', dispatchIds: [] } }: Beginning,
): { readonly agentId: string; readonly events: readonly NewEvent[] } {
  checkName(creation.name);
  const agentId = registry.allocateAgentId();
  const events = [agentCreated(agentId, creation, log.createId())];
  const add = (text: string, more: { readonly outcomesOf?: string[] } = {}) => {
    const [event] = takeApart({ role: 'system', content: text }, { id: log.createId(), agentId });
    if (event !== undefined) events.push({ ...event, data: { ...event.data, ...more } });
  };
  if (priorOutcomes.text !== '') add(priorOutcomes.text, { outcomesOf: [...priorOutcomes.dispatchIds] });
  if (systemPrompt !== undefined) add(textOf(systemPrompt));
  for (const message of initPrompt) events.push(givenEvent(asText(message), { id: log.createId(), agentId }));
  return { agentId, events };
}

/**
 * Ends an agent.
 * @throws SESSION_AGENT_NOT_FOUND, SESSION_AGENT_TERMINATED, SESSION_AGENT_IS_ROOT
 */
export async function terminateAgent(
  { log, registry }: SessionRecord,
  agentId: string,
  { reason, cause }: { readonly reason?: string | undefined; readonly cause?: string } = {},
): Promise<void> {
  const record = registry.getActive(agentId);
  if (record === registry.root)
    throw sessionErrors.error(
      'SESSION_AGENT_IS_ROOT',
      `The agent ${inWords(record)} is the root of the session; complete the session to end it.`,
      { details: { agentId } },
    );
  const data = reason === undefined ? {} : { reason };
  await log.append([
    newEvent('agent:terminated', data, { agentId, ...(cause === undefined ? {} : { cause }) }),
  ]);
}

/**
 * Refuses a message to an agent that has ended. The log names it, so that the agent can get it when it is revived. `before`: what is recorded with it.
 * @throws SESSION_AGENT_TERMINATED
 */
export async function refuseMessage(
  { log, registry }: SessionRecord,
  agentId: string,
  message: EventData<'agent:undelivered'> & Pick<EventLinks, 'substance'>,
  before: readonly NewEvent[] = [],
): Promise<void> {
  const { text, source, parts, ...links } = message;
  const data = { text, source, ...(parts === undefined ? {} : { parts }) };
  const refused = newEvent('agent:undelivered', data, { agentId, ...links });
  await log.append([...before, refused]);
  registry.getActive(agentId);
}

/** A message that was sent to an agent while it had ended. `agent.harken(text, { source })` delivers it. */
export interface MissedMessage {
  /** With the event whose content it is. */
  readonly text: LoggedString;
  readonly source: EventData<'user:message'>['source'];
}

/**
 * Makes an agent that has ended active again. Resolves to what it missed, and to its tools that are not among `toolNames`.
 * @throws SESSION_AGENT_NOT_FOUND, SESSION_AGENT_ACTIVE
 */
export async function reviveAgent(
  { log, registry }: SessionRecord,
  agentId: string,
  { reason, toolNames }: { readonly reason: string | undefined; readonly toolNames: ReadonlySet<string> },
): Promise<{
  readonly eventId: string;
  readonly position: number;
  readonly missed: readonly MissedMessage[];
  readonly missingTools: readonly string[];
}> {
  const record = registry.get(agentId);
  if (!record.isTerminated)
    throw sessionErrors.error(
      'SESSION_AGENT_ACTIVE',
      `The agent ${inWords(record)} has not ended, so there is nothing to revive.`,
      { details: { agentId } },
    );
  const { missed } = record;
  const missingTools = [...record.tools].filter((tool) => !toolNames.has(tool));
  const eventId = log.createId();
  const data = {
    ...(reason === undefined ? {} : { reason }),
    missed: missed.map((message) => message.eventId),
    ...(missingTools.length === 0 ? {} : { missingTools }),
  };
  const recorded = log.append([newEvent('agent:revived', data, { id: eventId, agentId })]);
  const position = log.inOrder(async () => log.through);
  await recorded;
  return {
    eventId,
    position: await position,
    missed: missed.map(({ text, source }) => ({ text, source })),
    missingTools,
  };
}
