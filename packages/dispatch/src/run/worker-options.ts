import type { AgentProvider } from '@hansard/provider';
import type { RunLimits } from './run-limits.ts';

/** Which workers a dispatch and those below it may start (D4). */
export interface WorkerOptions {
  /** The agents that a worker can be, by name. One that names none is of its caller's own kind. */
  readonly agents?: Readonly<Record<string, AgentProvider>>;
  /** The limits of each worker by itself. Absent: those of the dispatch. */
  readonly limits?: RunLimits;
  /** The most workers that run side by side, those of workers counted. Absent: `defaultMaxRunning`. */
  readonly maxRunning?: number;
  /** How far down: 1 for workers, 2 for workers of workers, and so on. Absent: `defaultMaxDepth`. */
  readonly maxDepth?: number;
}

/** A worker is often a process of its own, of some hundred megabytes: eight fit on a developer's machine. */
export const defaultMaxRunning = 8;

/** A lead, its workers, and their helpers: further down nobody sees any more who asked for what. */
export const defaultMaxDepth = 2;
