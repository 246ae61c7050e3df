import { newEvent, preview } from '@hansard/events';
import { inWords } from '../agents/agent-record.ts';
import { sessionErrors } from '../session-errors.ts';
import type { SessionRecord } from './session-record.ts';

export interface CompactionOptions {
  /**
   * The id of the first message or event of the agent that its model still receives unchanged. Absent: of everything so
   * far, it receives only the summary.
   */
  readonly keptFrom?: string;
  /** Why. Absent: `manual`. */
  readonly trigger?: string;
}

/** Logs that a summary replaces the input of an agent's model so far. `recorded` need not be handled: see `SessionLog.append`. */
export function logCompaction(
  { log, registry }: SessionRecord,
  agentId: string,
  summary: string,
  { keptFrom, trigger = 'manual' }: CompactionOptions = {},
): { readonly eventId: string; readonly recorded: Promise<unknown> } {
  const agent = registry.getActive(agentId);
  if (typeof summary !== 'string')
    throw sessionErrors.error(
      'SESSION_COMPACTION_INVALID',
      `The summary of ${inWords(agent)} must be a text; it is ${preview(summary)}.`,
      { details: { agentId } },
    );
  if (keptFrom !== undefined && registry.ownerOf(keptFrom) !== agentId)
    throw sessionErrors.error(
      'SESSION_COMPACTION_INVALID',
      `The agent ${inWords(agent)} has no message or event ${keptFrom} to keep from.`,
      { details: { agentId, keptFrom } },
    );
  if (keptFrom === undefined && agent.awaitsResponse)
    throw sessionErrors.error(
      'SESSION_COMPACTION_INVALID',
      `The agent ${inWords(agent)} has not answered yet: name in keptFrom the first message that its model still needs to see.`,
      { details: { agentId } },
    );
  const eventId = log.createId();
  const data = { trigger, summary, ...(keptFrom === undefined ? {} : { keptFrom }) };
  return { eventId, recorded: log.append([newEvent('session:compaction', data, { id: eventId, agentId })]) };
}
