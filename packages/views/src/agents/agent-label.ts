import { neutraliseControlsInLine } from '@hansard/events/plain';
import { shortId } from '@hansard/facts';
import type { LogIndex } from '../log/log-index.ts';
import { isDispatchedAgent, isNamedOnly, type Speaker } from '../log/saying.ts';
import { dispatchedAgent } from '../words/hearing-words.ts';

/** The label of an agent for a line of text, with control characters made visible. */
export function agentLabel({ agents }: LogIndex, agentId: string): string {
  return neutraliseControlsInLine(agents.get(agentId)?.label ?? agentId);
}

/** The label of a speaker: that of an agent, otherwise that of its kind. */
export function speakerLabel(index: LogIndex, speaker: Speaker): string {
  const { kind, agentId = '', dispatchId, hook, name } = speaker;
  if (isDispatchedAgent(speaker)) return agentLabel(index, '') || dispatchedAgent;
  if (isNamedOnly(speaker)) return neutraliseControlsInLine(speaker.name);
  if (kind !== 'agent' || speaker.agentId === undefined) return sourceLabel(speaker);
  // Its id says nothing about the agents of this log.
  if (dispatchId !== undefined && hook === undefined)
    return neutraliseControlsInLine(`agent ${agentId} of ${shortId(dispatchId)}`);
  // A record can name an agent of which the log has nothing else.
  if (name !== undefined && !index.agents.has(agentId)) return neutraliseControlsInLine(name);
  return agentLabel(index, agentId);
}

/**
 * The kind of a speaker: `user`, `agent`, `system`, `external`, or `external (file)` if the log says what sent it. Of a message of a
 * hook `hook NAME`, or `hook NAME as agent`.
 */
export function sourceLabel({ kind, what, hook }: Pick<Speaker, 'kind' | 'what' | 'hook'>): string {
  if (hook !== undefined) return `hook ${hook}${kind === 'agent' ? ' as agent' : ''}`;
  return kind === 'external' && what !== undefined ? `${kind} (${what})` : kind;
}
