import { expect, it } from 'vitest';
import { BrokenPromise } from './simulation/log-oracle.ts';
import { type Decision, randomSchedule, shrink } from './simulation/schedule.ts';
import { type PlantedFault, Simulation, type SimulationOptions } from './simulation/simulation.ts';

const base = { processes: 3, dispatches: 2, leaseMs: 1_500 } as const;
const firstSeed = Number(process.env.HANSARD_SIMULATION_SEED ?? 1);
const steps = Number(process.env.HANSARD_SIMULATION_STEPS ?? 1_000_000);
const decisions = 400;

interface Found {
  readonly seed: number;
  readonly schedule: readonly Decision[];
  readonly problem: string;
}

/** Runs seeds until so many steps were made; null if every promise held. */
function search(simulation: Simulation, options: SimulationOptions, mostSteps: number): Found | null {
  const canLosePower = options.durability === 'disk';
  for (let seed = firstSeed; simulation.counts.steps < mostSteps; seed += 1) {
    const schedule = randomSchedule(seed, { ...options, decisions, canLosePower });
    const problem = problemOf(simulation, schedule);
    if (problem !== null) return { seed, schedule, problem };
  }
  return null;
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

/** The seed, and the shortest schedule that still fails. */
function describe(simulation: Simulation, { seed, schedule, problem }: Found): string {
  const shortest = shrink(schedule, (part) => problemOf(simulation, part) !== null);
  const last = problemOf(simulation, shortest) ?? problem;
  return [`seed ${seed}: ${last}`, ...shortest.map((decision) => JSON.stringify(decision))].join('\n');
}

it.each(['process', 'disk'] as const)(
  `with durability %s, no schedule of ${steps / 2} steps loses, doubles or mixes up what was acknowledged`,
  { timeout: 120_000 },
  (durability) => {
    const options = { ...base, durability };
    using simulation = new Simulation(options);
    const found = search(simulation, options, steps / 2);
    expect(found === null ? null : describe(simulation, found)).toBeNull();
    const { counts } = simulation;
    for (const count of ['acknowledged', 'refused', 'takeovers', 'crashes', 'faults', 'reads'] as const)
      expect(counts[count], count).toBeGreaterThan(100);
  },
);

it.each<[PlantedFault, SimulationOptions['durability']]>([
  ['missing sync', 'disk'],
  ['wall clock', 'process'],
  ['early rename', 'process'],
  ['late check', 'process'],
])('the planted fault "%s" is found', { timeout: 60_000 }, (planted, durability) => {
  const options = { ...base, durability, planted };
  using simulation = new Simulation(options);
  expect(search(simulation, options, 300_000)).not.toBeNull();
});
