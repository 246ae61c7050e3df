import type { CapturedEvent } from '@hansard/events';

/** The agent of an event, and its time in the game. */
export interface Moment {
  readonly event: CapturedEvent;
  readonly agent: string;
  readonly turn: string;
}

/** The last fields of every line: its source. */
export function originOf({ id }: CapturedEvent, runId: string): { run_id: string; event_id: string } {
  return { run_id: runId, event_id: id };
}
