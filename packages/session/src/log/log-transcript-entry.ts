import { type CapturedEvent, isPlainObject, newEvent, newOutput, preview } from '@hansard/events';
import { type TranscriptMessage, takeApart } from '@hansard/prompt';
import { inWords } from '../agents/agent-record.ts';
import { invalidOption, sessionErrors } from '../session-errors.ts';
import type { SessionRecord } from './session-record.ts';

/** The links of a message to other events. Never both `substance` and `cause`. */
export interface TranscriptLinks {
  /** The event whose content the message repeats. Absent: the message is new. */
  readonly substance?: string;
  readonly cause?: string | readonly string[];
  /** The hook decision that altered it. */
  readonly via?: string;
}

/** Adds a message to an agent's transcript. `recorded` need not be handled: see `SessionLog.append`. */
export function logTranscriptEntry(
  { log, registry }: SessionRecord,
  agentId: string,
  message: TranscriptMessage,
  links: TranscriptLinks = {},
  /** Of the message. */
  messageId: string = log.createId(),
): { readonly messageId: string; readonly recorded: Promise<readonly CapturedEvent[]> } {
  if (!isPlainObject(message))
    throw invalidOption('message', `A message must be an object with a role; it is ${preview(message)}.`);
  // A call that an agent made before it was terminated still gets a result.
  if (message.role === 'tool') registry.get(agentId);
  else registry.getActive(agentId);
  return { messageId, recorded: log.append(takeApart(message, { id: messageId, agentId, ...links })) };
}

export interface ObservationLinks {
  /** The cause of the observation: the tool call, or several events. */
  readonly cause?: string | readonly string[];
}

/** Logs values that an agent observed, as they are now. `recorded` need not be handled: see `SessionLog.append`. */
export function logOutput(
  { log, registry }: SessionRecord,
  agentId: string,
  values: readonly unknown[],
  { cause }: ObservationLinks = {},
): { readonly eventId: string; readonly recorded: Promise<unknown> } {
  registry.getActive(agentId);
  if (!Array.isArray(values))
    throw invalidOption(
      'values',
      `What an agent observed must be a list of values; it is ${preview(values)}.`,
    );
  const eventId = log.createId();
  const links = { id: eventId, agentId, ...(cause === undefined ? {} : { cause }) };
  return { eventId, recorded: log.append([newOutput(values, links)]) };
}

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
