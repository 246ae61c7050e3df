import type { CapturedEvent } from '@hansard/events';

/** Whose event it is, and when in the game it happened. */
export interface Moment {
  readonly event: CapturedEvent;
  readonly agent: string;
  readonly turn: string;
}

/** What ends every line: where it is from. */
export function originOf({ id }: CapturedEvent, runId: string): { run_id: string; event_id: string } {
  return { run_id: runId, event_id: id };
}
