import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { PlantedFault } from './planted-faults.ts';
import { search } from './search.ts';

const base = { processes: 3, dispatches: 2, leaseMs: 1_500 } as const;
const firstSeed = Number(process.env.HANSARD_SIMULATION_SEED ?? 1);
const steps = Number(process.env.HANSARD_SIMULATION_STEPS ?? 50_000);

it(`no schedule of ${steps} steps loses, doubles or undoes an event, has two writers, or breaks a lease`, {
  timeout: 300_000,
}, () => {
  const { found, counts } = search({ ...base, firstSeed, steps });
  expect(found).toBeNull();
  for (const [name, count] of Object.entries(counts)) expect(count, name).toBeGreaterThan(steps / 5_000);
});

it('a seed that breaks a promise prints its shortest schedule', () => {
  const { found } = search({ ...base, planted: 'close that frees all claims', firstSeed, steps: 100_000 });
  const lines = found?.split('\n') ?? [];
  expect(lines[0]).toMatch(/^seed \d+: /);
  expect(lines.length).toBeGreaterThan(1);
  expect(lines.length).toBeLessThan(25);
});

interface Row {
  readonly store: string;
  readonly fault: string;
  readonly from: 'contract' | 'code';
  readonly seed: number | null;
}

const file = new URL('../../../../scripts/campaigns/planted-faults.json', import.meta.url);
const rows = (JSON.parse(readFileSync(file, 'utf8')) as Row[]).filter(
  ({ store, seed }) => store === 'sqlite' && seed !== null,
);

describe('the seed of the campaign finds the planted fault', () => {
  it.each(rows)('$fault', ({ fault, from, seed }) => {
    const planted = from === 'code' ? { planted: fault as PlantedFault } : { contractFault: fault };
    const { found } = search({ ...base, ...planted, firstSeed: seed ?? 0, steps: 1, isShrunk: false });
    expect(found).toMatch(new RegExp(`^seed ${seed}: `));
  });
});
