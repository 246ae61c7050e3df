import { BrokenPromise } from '@hansard/testing/simulation';
import {
  type Decision,
  randomSchedule,
  Simulation,
  type SimulationCounts,
  type SimulationOptions,
} from './simulation.ts';

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
  /** The broken promise, then a short schedule that breaks one; null if every promise held. */
  readonly found: string | null;
}

/** Runs one random schedule after the other, until a promise is broken. */
export async function search({
  firstSeed,
  steps,
  isShrunk = true,
  onProgress,
  ...options
}: SearchOptions): Promise<SearchResult> {
  await using simulation = await Simulation.start(options);
  const { counts } = simulation;
  let schedules = 0;
  while (counts.steps < steps) {
    const seed = firstSeed + schedules;
    const schedule = randomSchedule(seed, options);
    const problem = await problemOf(simulation, schedule);
    if (problem !== null) {
      if (!isShrunk) return { schedules, counts, found: `seed ${seed}: ${problem}` };
      const short = await shrink(simulation, schedule);
      const lines = [
        await problemOf(simulation, short),
        ...short.map((decision) => JSON.stringify(decision)),
      ];
      return { schedules, counts, found: `seed ${seed}: ${lines.join('\n')}` };
    }
    schedules += 1;
    onProgress?.(counts);
  }
  return { schedules, counts, found: null };
}

async function problemOf(simulation: Simulation, schedule: readonly Decision[]): Promise<string | null> {
  try {
    await simulation.run(schedule);
    return null;
  } catch (error) {
    if (error instanceof BrokenPromise) return error.message;
    throw error;
  }
}

/** As `shrink` of `@hansard/testing`, for schedules that take time. */
async function shrink(simulation: Simulation, schedule: readonly Decision[]): Promise<readonly Decision[]> {
  let best = schedule;
  for (let size = Math.ceil(best.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let at = 0; at < best.length; ) {
      const without = best.toSpliced(at, size);
      if ((await problemOf(simulation, without)) !== null) best = without;
      else at += size;
    }
  }
  return best;
}
