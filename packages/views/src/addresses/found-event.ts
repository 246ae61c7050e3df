import type { CapturedEvent } from '@hansard/events';

/** An event that an address names, or can name. */
export interface FoundEvent {
  readonly position: number;
  readonly event: CapturedEvent;
  /** The id that was meant: of the event, or of the message whose first block it is. */
  readonly id: string;
}
