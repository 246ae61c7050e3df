import type { Delta, NewEvent } from '@hansard/events';

/** What a message becomes: events to record, and deltas that are only shown (D8). An `AgentActivity` of `@hansard/provider`. */
export type ClaudeActivity =
  | { readonly kind: 'event'; readonly event: NewEvent }
  | { readonly kind: 'delta'; readonly delta: Delta };
