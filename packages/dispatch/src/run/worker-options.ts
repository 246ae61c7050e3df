import type { AgentProvider } from '@hansard/provider';

/** The workers that a dispatch and the dispatches below it may start (D4). */
export interface WorkerOptions {
  /** The agents that a worker can be, by name. A worker without a name has the agent of its caller; in a session the only one here. */
  readonly agents?: Readonly<Record<string, AgentProvider>>;
  /** The limits of each single worker. Absent: those of the dispatch. */
  readonly limits?: RunLimits;
  /** The most workers that run at the same time, including workers of workers. Absent: `defaultMaxRunning`. */
  readonly maxRunning?: number;
  /** The deepest level: 1 for workers, 2 for workers of workers, and so on. Absent: `defaultMaxDepth`. */
  readonly maxDepth?: number;
  /**
   * Who may send messages to whom while they run. `parent`: a dispatch and its workers to each other. `all`: also the other dispatches
   * that run together, such as two workers. Absent: `parent`.
   */
  readonly messages?: 'parent' | 'all';
  /** The most messages that one dispatch sends since it last heard a person or the outside world. Absent: `defaultMaxMessages`. */
  readonly maxMessages?: number;
}

/** A worker is often a process of its own, of some hundred megabytes: eight fit on a developer's machine. */
export const defaultMaxRunning = 8;

/** Two agents that only answer each other stop here. */
export const defaultMaxMessages = 50;

/** A lead, its workers and their helpers. Deeper trees are hard to follow. */
export const defaultMaxDepth = 2;

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
