import { type NewEvent, newEvent } from '@hansard/events';
import { takeApart } from '@hansard/views';
import type { SessionRecord } from '../log/session-record.ts';
import { SessionError } from '../session-error.ts';

export interface AgentCreation {
  /** The event of the tool call that created the agent. Absent: no tool did. */
  readonly cause?: string;
  readonly name?: string;
  readonly languageModel?: string;
}

export function agentCreated(
  agentId: string,
  { cause, name, languageModel }: AgentCreation,
  id: string,
): NewEvent {
  const data = {
    ...(name === undefined ? {} : { name }),
    ...(languageModel === undefined ? {} : { languageModel }),
  };
  return newEvent('agent:created', data, { id, agentId, ...(cause === undefined ? {} : { cause }) });
}

/** Creates an agent with one append: its `agent:created` and system prompt are durable when this resolves. */
export async function createAgent(
  { log, registry }: SessionRecord,
  creation: AgentCreation,
  systemPrompt: string | undefined,
): Promise<string> {
  const agentId = registry.allocateAgentId();
  const events = [agentCreated(agentId, creation, log.createId())];
  if (systemPrompt !== undefined)
    events.push(...takeApart({ role: 'system', content: systemPrompt }, { id: log.createId(), agentId }));
  await log.append(events);
  return agentId;
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
    throw new SessionError(
      'SESSION_AGENT_IS_ROOT',
      `${agentId} is the root of the session; complete the session to end it.`,
      { details: { agentId } },
    );
  const data = reason === undefined ? {} : { reason };
  await log.append([
    newEvent('agent:terminated', data, { agentId, ...(cause === undefined ? {} : { cause }) }),
  ]);
}
