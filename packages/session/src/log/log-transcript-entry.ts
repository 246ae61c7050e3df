import { type CapturedEvent, isPlainObject, preview } from '@hansard/events';
import { type TranscriptMessage, takeApart } from '@hansard/prompt';
import { invalidOption } from '../session-errors.ts';
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
