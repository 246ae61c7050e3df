import type { CapturedEvent } from '@hansard/events';
import { type TranscriptMessage, takeApart } from '@hansard/views';
import type { SessionRecord } from './session-record.ts';

/** What links a message to others. Never both `substance` and `cause`. */
export interface TranscriptLinks {
  /** The event whose content the message carries on. Absent: the message is new. */
  readonly substance?: string;
  readonly cause?: string | readonly string[];
  /** The hook decision that altered it. */
  readonly via?: string;
}

/** Adds a message to an agent's transcript. `recorded` may be left alone: see `SessionLog.append`. */
export function logTranscriptEntry(
  { log, registry }: SessionRecord,
  agentId: string,
  message: TranscriptMessage,
  links: TranscriptLinks = {},
): { readonly messageId: string; readonly recorded: Promise<readonly CapturedEvent[]> } {
  // What an agent called before it was terminated still has a result.
  if (message.role === 'tool') registry.get(agentId);
  else registry.getActive(agentId);
  const messageId = log.createId();
  return { messageId, recorded: log.append(takeApart(message, { id: messageId, agentId, ...links })) };
}
