import type { Delta, NewEvent } from '@hansard/events';

/** The result of mapping a message: events to record, and deltas that are only shown (D8). An `AgentActivity` of `@hansard/provider`. */
export type ClaudeActivity =
  | { readonly kind: 'event'; readonly event: NewEvent }
  | { readonly kind: 'delta'; readonly delta: Delta };
