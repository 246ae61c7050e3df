import type { CapturedEvent, Delta, Fidelity, NewEvent } from '@hansard/events';
import type { Awaitable } from './awaitable.ts';

/**
 * Runs a dispatched agent to its end and yields what happens, in order. `runDispatch` records each event before it asks
 * for the next one, so a provider that yields nothing more has lost nothing.
 *
 * The agent ended when the iterable ends. A `session:complete` event says how; without one the dispatch is complete with
 * nothing known of its result. A provider that throws crashes the dispatch: the error is recorded as `harness:error`.
 */
export interface AgentProvider {
  run(request: AgentRunRequest): AsyncIterable<AgentActivity>;
  close?(): Awaitable<void>;
}

export interface AgentRunRequest {
  readonly taskDir: string;
  readonly dispatchId: string;
  readonly prompt: string;
  readonly role: string;
  readonly model: string | null;
  readonly cwd: string | null;
  /** Whether tool input and output belong into the events (`full`) or not (`narrative`, D7). */
  readonly fidelity: Fidelity;
  /** Messages for the running agent. Each is already recorded as a `user:message`. Ends when the dispatch does. */
  readonly messages: AsyncIterable<CapturedEvent>;
  /** Aborted when the dispatch must end: stop soon, then end the iterable. */
  readonly signal: AbortSignal;
}

/** One thing that an agent provider yields: an event to record, or a delta that is only shown (D8). */
export type AgentActivity =
  | { readonly kind: 'event'; readonly event: NewEvent }
  | { readonly kind: 'delta'; readonly delta: Delta };
