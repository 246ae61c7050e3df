import type { CapturedEvent, EventData } from '@hansard/events';

/**
 * How a delivery compares with the words that were said: the same; wrapped, such as `[Ann]: Hello`; altered, by
 * a hook or in other words; or withheld by a hook, so that nothing reached it.
 */
export type HowHeard = 'same' | 'wrapped' | 'altered' | 'withheld';

/** Something said reached an agent, or was kept from it. */
export interface Hearing {
  /** '' for the dispatched agent itself. */
  readonly agentId: string;
  /** What reached it; null: nothing. */
  readonly text: string | null;
  readonly how: HowHeard;
  /** The delivery, or the decision that withheld it. */
  readonly event: CapturedEvent;
  readonly position: number;
  /** The id of the hook decision that altered or withheld it. */
  readonly via?: string;
}

/** Who says something: an agent, a person or the system. */
export type Speaker = EventData<'user:message'>['source'];

/** Something new that was put into words for others: one substance, with all who heard it. */
export interface Saying {
  readonly id: string;
  readonly event: CapturedEvent;
  /** `utterance`: an agent's answer. `text`: a piece of text. `message`: what came in without either. */
  readonly kind: 'utterance' | 'text' | 'message';
  readonly speaker: Speaker;
  readonly text: string;
  /** Where it stands in the log. */
  readonly position: number;
  /** In the order of the log; an agent that heard it twice is there twice. */
  readonly hearings: readonly Hearing[];
}

/** A saying while its hearings are gathered. */
export interface GatheredSaying extends Saying {
  readonly hearings: Hearing[];
}
