import { BrokenPromise, shrink } from '@hansard/testing/simulation';
import { type Decision, randomSchedule } from './schedule.ts';
import { Simulation, type SimulationCounts, type SimulationOptions } from './simulation.ts';

const decisions = 400;

/** A schedule after which a promise was broken. */
export interface Found {
  readonly seed: number;
  /** The broken promise, then the shortest schedule that breaks one. */
  readonly text: string;
}

export interface SearchOptions extends SimulationOptions {
  readonly firstSeed: number;
  /** The search ends with the first schedule that ends after this number of steps. */
  readonly steps: number;
  /** Whether the shortest schedule is looked for; true without it. */
  readonly isShrunk?: boolean;
  readonly onProgress?: (counts: SimulationCounts) => void;
}

export interface SearchResult {
  readonly schedules: number;
  readonly counts: SimulationCounts;
  /** Null if every promise held. */
  readonly found: Found | null;
}

/** Runs one random schedule after the other, until a promise is broken. */
export function search({
  firstSeed,
  steps,
  isShrunk = true,
  onProgress,
  ...options
}: SearchOptions): SearchResult {
  using simulation = new Simulation(options);
  const { counts } = simulation;
  let schedules = 0;
  while (counts.steps < steps) {
    const seed = firstSeed + schedules;
    const canLosePower = options.durability === 'disk';
    const schedule = randomSchedule(seed, { ...options, decisions, canLosePower });
    const problem = problemOf(simulation, schedule);
    if (problem !== null) {
      const text = `seed ${seed}: ${problem}`;
      const found = isShrunk ? describe(simulation, seed, schedule, problem) : { seed, text };
      return { schedules, counts, found };
    }
    schedules += 1;
    onProgress?.(counts);
  }
  return { schedules, counts, found: null };
}

function problemOf(simulation: Simulation, schedule: readonly Decision[]): string | null {
  try {
    simulation.run(schedule);
    return null;
  } catch (error) {
    if (error instanceof BrokenPromise) return error.message;
    throw error;
  }
}

function describe(
  simulation: Simulation,
  seed: number,
  schedule: readonly Decision[],
  problem: string,
): Found {
  const shortest = shrink(schedule, (part) => problemOf(simulation, part) !== null);
  const last = problemOf(simulation, shortest) ?? problem;
  const lines = shortest.map((decision) => JSON.stringify(decision));
  return { seed, text: [`seed ${seed}: ${last}`, ...lines].join('\n') };
}
