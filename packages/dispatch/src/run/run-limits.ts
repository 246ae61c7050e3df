/** Where a limit is absent there is none. */
export interface RunLimits {
  /** The longest that the dispatch may take. */
  readonly timeMs?: number;
  /** The longest that the agent may yield nothing but heartbeats: longer than its longest tool call. */
  readonly stallMs?: number;
  /** The most that it may cost, in US dollars; an agent that goes on beyond it is stopped. */
  readonly costUsd?: number;
  /** The most turns that the agent may take; its provider holds it to that. */
  readonly turns?: number;
}
