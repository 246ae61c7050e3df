import { newEvent } from '@hansard/events';
import { SessionError } from '../session-error.ts';
import type { SessionRecord } from './session-record.ts';

export interface CompactionOptions {
  /**
   * The id of the first message or event of the agent that its model goes on to see as it was. Absent: of what came so
   * far, it sees the summary alone.
   */
  readonly keptFrom?: string;
  /** Why. Absent: `manual`. */
  readonly trigger?: string;
}

/** Logs that a summary stands for what an agent's model saw so far. `recorded` may be left alone: see `SessionLog.append`. */
export function logCompaction(
  { log, registry }: SessionRecord,
  agentId: string,
  summary: string,
  { keptFrom, trigger = 'manual' }: CompactionOptions = {},
): { readonly eventId: string; readonly recorded: Promise<unknown> } {
  const { awaitsResponse } = registry.getActive(agentId);
  if (keptFrom !== undefined && registry.ownerOf(keptFrom) !== agentId)
    throw new SessionError(
      'SESSION_COMPACTION_INVALID',
      `The agent ${agentId} has no message or event ${keptFrom} to keep from.`,
      { details: { agentId, keptFrom } },
    );
  if (keptFrom === undefined && awaitsResponse)
    throw new SessionError(
      'SESSION_COMPACTION_INVALID',
      `The agent ${agentId} has not answered yet: name in keptFrom the first message that its model still needs to see.`,
      { details: { agentId } },
    );
  const eventId = log.createId();
  const data = { trigger, summary, ...(keptFrom === undefined ? {} : { keptFrom }) };
  return { eventId, recorded: log.append([newEvent('session:compaction', data, { id: eventId, agentId })]) };
}
