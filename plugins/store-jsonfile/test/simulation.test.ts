import { expect, it } from 'vitest';
import { search } from './simulation/search.ts';
import type { PlantedFault, SimulationOptions } from './simulation/simulation.ts';

const base = { processes: 3, dispatches: 2, leaseMs: 1_500 } as const;
const firstSeed = Number(process.env.HANSARD_SIMULATION_SEED ?? 1);
const steps = Number(process.env.HANSARD_SIMULATION_STEPS ?? 200_000) / 2;

it.each(['process', 'disk'] as const)(
  `with durability %s, no schedule of ${steps} steps loses, doubles or mixes up what was acknowledged`,
  { timeout: 300_000 },
  (durability) => {
    const { found, counts } = search({ ...base, durability, firstSeed, steps });
    expect(found?.text ?? null).toBeNull();
    for (const count of ['acknowledged', 'refused', 'takeovers', 'crashes', 'faults', 'reads'] as const)
      expect(counts[count], count).toBeGreaterThan(steps / 8_000);
  },
);

it.each<[PlantedFault, SimulationOptions['durability']]>([
  ['missing sync', 'disk'],
  ['wall clock', 'process'],
  ['early rename', 'process'],
  ['late check', 'process'],
  ['kept copies', 'process'],
])('the planted fault "%s" is found, with a short schedule', (planted, durability) => {
  const { found } = search({ ...base, durability, planted, firstSeed, steps: 300_000 });
  expect(found?.text.split('\n').length ?? 0).toBeGreaterThan(1);
  expect(found?.text.split('\n').length).toBeLessThan(60);
});
