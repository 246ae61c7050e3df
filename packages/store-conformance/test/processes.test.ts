// Starts processes: `node:child_process` is used by the cases themselves.
import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { runStoreConformance, storeConformanceCases } from '../src/index.ts';
import { processMutants } from './mutants/processes.ts';
import { sharedStoreUnderTest } from './reference/open-shared.ts';

const caseIds = storeConformanceCases.flatMap(({ id }) => (/^(killed|processes)\//.test(id) ? [id] : []));

describe('the cases with real processes', () => {
  it.each(caseIds)('pass for a store that keeps the contract: %s', async (caseId) => {
    const [result] = await runStoreConformance(sharedStoreUnderTest(), [caseId]);
    const skips =
      result?.status === 'skipped' && spawnSync('unshare', ['--pid', '--fork', 'true']).status !== 0;
    expect([result?.status, result?.error]).toEqual([skips ? 'skipped' : 'passed', null]);
  });

  it.each(processMutants)('fail for a store that %s: %s', async (fault, caseId) => {
    // A race can be missed, on a busy machine several times.
    const statuses: unknown[] = [];
    while (statuses.length < 8 && statuses.at(-1) !== 'failed') {
      const [result] = await runStoreConformance(sharedStoreUnderTest(fault), [caseId]);
      statuses.push(result?.status);
    }
    expect(statuses.at(-1)).toBe('failed');
  });

  it.each(caseIds)('are skipped with a reason for a fixture without `elsewhere`: %s', async (caseId) => {
    const { create, ...store } = sharedStoreUnderTest();
    const without = async () => ({ ...(await create()), elsewhere: undefined as never });
    const [result] = await runStoreConformance({ ...store, create: without }, [caseId]);
    expect(result).toMatchObject({ status: 'skipped', reason: expect.stringMatching(/elsewhere|unshare/) });
  });
});
