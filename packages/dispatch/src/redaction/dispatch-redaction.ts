import type { RedactionCounts } from '@hansard/events';
import type { UnreadContent } from '@hansard/redaction';

/** What was replaced in a stored dispatch. */
export interface DispatchRedaction {
  /** By the kind of secret, and `content` for removed bytes; empty: nothing was found, and nothing changed. */
  readonly counts: RedactionCounts;
  /** The number of events in which something was replaced. */
  readonly events: number;
  readonly hasEnvelope: boolean;
  /** The number of letters to the dispatch in which something was replaced. */
  readonly letters: number;
  /** Places of the store that can still hold the secrets, in words. */
  readonly remains: readonly string[];
  /** The images, documents and sounds that are still there: a secret in one was neither found nor replaced. */
  readonly unread: readonly UnreadContent[];
}
