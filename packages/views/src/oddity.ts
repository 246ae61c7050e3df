import { neutraliseControlsInLine } from './neutralise-controls.ts';

/** Something in a log that does not add up. It is kept as it is, and the views go on around it. */
export interface Oddity {
  readonly kind:
    | 'id_repeated'
    | 'event_unreadable'
    | 'agent_not_created'
    | 'agent_created_twice'
    | 'agent_name_shared'
    | 'reference_lost'
    | 'reference_ahead';
  /** Where it was seen first. */
  readonly eventId: string;
  /** The same in words. */
  readonly text: string;
}

/** One line for each oddity. */
export function renderOddities(oddities: readonly Oddity[]): string {
  return oddities.map(({ text }) => neutraliseControlsInLine(text)).join('\n');
}
