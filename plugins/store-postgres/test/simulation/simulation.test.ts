import { readFileSync } from 'node:fs';
import { useServer } from '@hansard/testing/postgres-in-tests';
import { describe, expect, it } from 'vitest';
import { newSchema } from '../server/new-schema.ts';
import type { PlantedFault } from './planted-faults.ts';
import { search } from './search.ts';

// The server notices a deadlock of two statements after this time.
const server = useServer('deadlock_timeout=20ms');
const base = () => ({
  url: server().url(),
  schema: newSchema(),
  processes: 3,
  dispatches: 2,
  leaseMs: 1_500,
});
const firstSeed = Number(process.env.HANSARD_SIMULATION_SEED ?? 1);
const steps = Number(process.env.HANSARD_SIMULATION_STEPS ?? 2_500);

it(`no schedule of ${steps} statements loses, doubles or undoes an event, or breaks a lease`, {
  timeout: 300_000,
}, async () => {
  const { found, counts } = await search({ ...base(), firstSeed, steps });
  expect(found).toBeNull();
  for (const count of [
    'blocked',
    'acknowledged',
    'refused',
    'takeovers',
    'crashes',
    'faults',
    'reads',
  ] as const)
    expect(counts[count], count).toBeGreaterThan(0);
});

interface Row {
  readonly store: string;
  readonly fault: string;
  readonly from: 'contract' | 'code';
  readonly seed: number | null;
  readonly steps: number;
}

const file = new URL('../../../../scripts/campaigns/planted-faults.json', import.meta.url);
const all = (JSON.parse(readFileSync(file, 'utf8')) as Row[]).filter(({ seed }) => seed !== null);
/** Those of the contract that the test of SQLite finds are tested there. */
const isOfSqlite = ({ fault, from }: Row) =>
  from === 'contract' && all.some((row) => row.store === 'sqlite' && row.fault === fault);
const rows = all.filter((row) => row.store === 'postgres' && !isOfSqlite(row));

describe('the seed of the campaign finds the planted fault', () => {
  it.each(rows)('$fault', { timeout: 60_000 }, async ({ fault, from, seed }) => {
    const planted = from === 'code' ? { planted: fault as PlantedFault } : { contractFault: fault };
    const { found } = await search({
      ...base(),
      ...planted,
      firstSeed: seed ?? 0,
      steps: 1,
      isShrunk: false,
    });
    expect(found).toMatch(new RegExp(`^seed ${seed}: `));
  });
});
