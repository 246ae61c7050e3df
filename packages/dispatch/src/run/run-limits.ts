/** An absent limit does not apply. */
export interface RunLimits {
  /** The longest time that the dispatch may take. */
  readonly timeMs?: number;
  /** The longest time without anything but heartbeats. Must be longer than the longest tool call. */
  readonly stallMs?: number;
  /** The highest cost, in US dollars. An agent that continues above it is stopped. */
  readonly costUsd?: number;
  /** The most turns that the agent may take. Its provider enforces it. */
  readonly turns?: number;
}
