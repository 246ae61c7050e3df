import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { search } from './simulation/search.ts';
import type { PlantedFault } from './simulation/simulation.ts';

const base = { processes: 3, dispatches: 2, leaseMs: 1_500 } as const;
const firstSeed = Number(process.env.HANSARD_SIMULATION_SEED ?? 1);
const steps = Number(process.env.HANSARD_SIMULATION_STEPS ?? 80_000) / 2;

it.each(['process', 'disk'] as const)(
  `with durability %s, no schedule of ${steps} steps loses, doubles, undoes or mixes up what was acknowledged`,
  { timeout: 300_000 },
  (durability) => {
    const { found, counts } = search({ ...base, durability, firstSeed, steps });
    expect(found?.text ?? null).toBeNull();
    for (const count of ['acknowledged', 'refused', 'crashes', 'faults', 'reads', 'rewrites'] as const)
      expect(counts[count], count).toBeGreaterThan(steps / 5_000);
    for (const count of ['takeovers', 'deletions', 'listings', 'searches', 'letters'] as const)
      expect(counts[count], count).toBeGreaterThan(steps / 20_000);
  },
);

it('a seed that breaks a promise prints its shortest schedule', () => {
  const { found } = search({
    ...base,
    durability: 'process',
    planted: 'late check',
    firstSeed,
    steps: 300_000,
  });
  const lines = found?.text.split('\n') ?? [];
  expect(lines[0]).toMatch(/^seed \d+: /);
  expect(lines.length).toBeGreaterThan(1);
  expect(lines.length).toBeLessThan(60);
});

describe('on a network file system that keeps the facts about files', () => {
  const mounted = (ms: number, seed: number, size: number, keepsAbsence = false) =>
    search({
      ...base,
      durability: 'process',
      cache: { ms, keepsAbsence },
      firstSeed: seed,
      steps: size,
      isShrunk: false,
    }).found?.text ?? null;

  it('for less than a lease, nothing that was acknowledged is lost', { timeout: 60_000 }, () => {
    expect(mounted(1_000, firstSeed, steps / 2)).toBeNull();
  });

  it('for more than a lease, acknowledged events are lost', () => {
    expect(mounted(2_000, 3, 1)).toContain('has lost');
  });

  it('and that a file is missing, two openings can have one claim, whatever the lease is', () => {
    expect(mounted(400, 21, 1, true)).toContain('without a claim');
  });
});

interface Row {
  readonly store: string;
  readonly fault: string;
  readonly from: 'contract' | 'code';
  readonly durability: 'process' | 'disk';
  readonly seed: number | null;
  readonly steps: number;
}

const file = new URL('../../../scripts/campaigns/planted-faults.json', import.meta.url);
const all = (JSON.parse(readFileSync(file, 'utf8')) as Row[]).filter(({ seed }) => seed !== null);
/** A process of the simulation takes long to start, so those of the contract that the test of SQLite finds are tested there. */
const isOfSqlite = ({ fault, from }: Row) =>
  from === 'contract' && all.some((row) => row.store === 'sqlite' && row.fault === fault);
const rows = all.filter((row) => row.store === 'jsonfile' && !isOfSqlite(row));

describe('the seed of the campaign finds the planted fault', () => {
  it.each(rows)('$fault', ({ fault, from, durability, seed }) => {
    const planted = from === 'code' ? { planted: fault as PlantedFault } : { contractFault: fault };
    const options = { ...base, ...planted, durability, firstSeed: seed ?? 0, steps: 1, isShrunk: false };
    expect(search(options).found?.seed).toBe(seed);
  });
});
