import { describe, expect, it } from 'vitest';
import { runStoreConformance, type StoreUnderTest, storeConformanceCases } from '../src/index.ts';
import { appendMutants } from './mutants/appends.ts';
import { claimMutants } from './mutants/claims.ts';
import { dispatchMutants } from './mutants/dispatches.ts';
import { endMutants } from './mutants/ends.ts';
import { errorMutants } from './mutants/errors.ts';
import { lieMutants } from './mutants/lies.ts';
import { listedMutants } from './mutants/listed.ts';
import { nameMutants } from './mutants/names.ts';
import { neighbourMutants } from './mutants/neighbours.ts';
import { positionMutants } from './mutants/positions.ts';
import { rareMutants } from './mutants/rare.ts';
import { readMutants } from './mutants/reads.ts';
import { reopenedMutants } from './mutants/reopened.ts';
import { retryMutants } from './mutants/retries.ts';
import { rewriteMutants } from './mutants/rewrite.ts';
import { sharedMutants } from './mutants/shared.ts';
import { sizeMutants } from './mutants/sizes.ts';
import { valueMutants } from './mutants/values.ts';
import { wordMutants } from './mutants/words.ts';
import { storeWith } from './open-reference.ts';

const mutants = [
  ...appendMutants,
  ...claimMutants,
  ...dispatchMutants,
  ...endMutants,
  ...errorMutants,
  ...rewriteMutants,
  ...lieMutants,
  ...listedMutants,
  ...nameMutants,
  ...neighbourMutants,
  ...positionMutants,
  ...rareMutants,
  ...readMutants,
  ...reopenedMutants,
  ...retryMutants,
  ...sharedMutants,
  ...sizeMutants,
  ...valueMutants,
  ...wordMutants,
];

/** Some faults begin beyond the sizes of the quick profile. */
const hasLarge = (caseId: string) => caseId.startsWith('sizes/many-');

/** Cases that mostly wait for an answer that does not come: their mutants wait together. */
const waits = (caseId: string) => /^(?:watch|answers)\//.test(caseId);

async function isCaught(caseId: string, change: (typeof mutants)[number][2]): Promise<void> {
  const [result] = await runStoreConformance(
    { ...storeWith(change), large: hasLarge(caseId), caseLimitMs: 24_000 },
    [caseId],
  );
  expect(result?.status).toBe('failed');
  // By a check of the case, and not because the mutant itself is wrong.
  expect(String(result?.error)).not.toMatch(/^(?:Type|Range|Reference)Error/);
}

describe('a store that', () => {
  it.each(mutants.filter(([, caseId]) => !waits(caseId)))('%s fails %s', (_, caseId, change) =>
    isCaught(caseId, change),
  );
  it.concurrent.each(mutants.filter(([, caseId]) => waits(caseId)))('%s fails %s', (_, caseId, change) =>
    isCaught(caseId, change),
  );
});

describe('the mutants', () => {
  it('are more than 400, each with its own name', () => {
    expect(mutants.length).toBeGreaterThan(400);
    expect(new Set(mutants.map(([fault]) => fault)).size).toBe(mutants.length);
  });

  it('name every case of claims and of several openings', () => {
    const named = new Set(mutants.map(([, caseId]) => caseId));
    const claimCases = storeConformanceCases.filter(({ id }) => /^(?:claims|shared)\//.test(id));
    expect(claimCases).toHaveLength(50);
    expect(claimCases.filter(({ id }) => !named.has(id))).toEqual([]);
  });

  it('change a store that passes all of their cases', async () => {
    const caseIds = [...new Set(mutants.map(([, caseId]) => caseId))];
    const results = await runStoreConformance(
      storeWith(() => ({})),
      caseIds,
    );
    expect(results.filter(({ status }) => status !== 'passed')).toEqual([]);
  });
});

describe('the census of a fixture', () => {
  const withCensus = (named: readonly string[]): StoreUnderTest => {
    const good = storeWith(() => ({ findRemains: () => [...named] }));
    return {
      ...good,
      create: async () => ({ ...(await good.create()), census: () => ['/store/left.tmp'] }),
    };
  };

  it('fails each case after which the store does not name what belongs to nothing', async () => {
    const [result] = await runStoreConformance(withCensus(['/store/other.tmp, a copy.']), ['tasks/replaced']);
    expect(result?.status).toBe('failed');
    expect(String(result?.error)).toContain('After the case, the storage has /store/left.tmp');
  });

  it('passes where the store names it', async () => {
    const named = withCensus(['/store/left.tmp, a copy that a process did not finish.']);
    const [result] = await runStoreConformance(named, ['tasks/replaced']);
    expect(result?.status).toBe('passed');
  });
});
