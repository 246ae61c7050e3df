import { describe, expect, it } from 'vitest';
import { runStoreConformance } from '../src/index.ts';
import { damageMutants } from './mutants/damage.ts';
import { storeWith } from './open-reference.ts';

describe('a store that', () => {
  it.each(damageMutants)('%s fails %s', async (_, caseId, change) => {
    const [result] = await runStoreConformance(storeWith(change), [caseId]);
    expect(result?.status).toBe('failed');
    expect(String(result?.error)).not.toMatch(/^(?:Type|Range|Reference)Error/);
  });

  it('has no fault passes the same cases', async () => {
    const caseIds = [...new Set(damageMutants.map(([, caseId]) => caseId))];
    const results = await runStoreConformance(
      storeWith(() => ({})),
      caseIds,
    );
    expect(results.filter(({ status }) => status !== 'passed')).toEqual([]);
  });
});
