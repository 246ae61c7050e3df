import type { RedactionCounts } from '@hansard/events';

/** What was replaced in a stored dispatch. */
export interface DispatchRedaction {
  /** By the kind of secret; empty: nothing was found, and nothing changed. */
  readonly counts: RedactionCounts;
  /** The number of events in which something was replaced. */
  readonly events: number;
  readonly hasEnvelope: boolean;
  /** The number of letters to the dispatch in which something was replaced. */
  readonly letters: number;
  /** Places of the store that can still hold the secrets, in words. */
  readonly remains: readonly string[];
}
