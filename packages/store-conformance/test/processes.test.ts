// Starts processes: `node:child_process` is used by the cases themselves.
import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { runStoreConformance, storeConformanceCases } from '../src/index.ts';
import { processMutants } from './mutants/processes.ts';
import { sharedStoreUnderTest } from './reference/open-shared.ts';

const caseIds = storeConformanceCases.flatMap(({ id }) => (/^(killed|processes)\//.test(id) ? [id] : []));

async function passes(caseId: string): Promise<void> {
  const [result] = await runStoreConformance(sharedStoreUnderTest(), [caseId]);
  const skips =
    result?.status === 'skipped' && spawnSync('unshare', ['--pid', '--fork', 'true']).status !== 0;
  expect([result?.status, result?.error]).toEqual([skips ? 'skipped' : 'passed', null]);
}

async function failsFor(fault: string, caseId: string): Promise<void> {
  // A race can be missed, on a busy machine several times.
  const statuses: unknown[] = [];
  while (statuses.length < 8 && statuses.at(-1) !== 'failed') {
    const [result] = await runStoreConformance(sharedStoreUnderTest(fault), [caseId]);
    statuses.push(result?.status);
  }
  expect(statuses.at(-1)).toBe('failed');
}

/** Its writer never waits, so its log grows while other cases delay its reader. */
const isPaced = (caseId: string) => caseId === 'processes/reader-beside-writer';

// Most of them wait for leases to expire.
describe.concurrent('the cases with real processes, beside each other', () => {
  it.each(caseIds.filter((id) => !isPaced(id)))('pass for a store that keeps the contract: %s', passes);

  it.each(processMutants.filter(([, caseId]) => !isPaced(caseId)))('fail for a store that %s: %s', failsFor);
});

describe('the cases with real processes', () => {
  it.each(caseIds.filter(isPaced))('pass for a store that keeps the contract: %s', passes);

  it.each(processMutants.filter(([, caseId]) => isPaced(caseId)))('fail for a store that %s: %s', failsFor);

  it.each(caseIds)('are skipped with a reason for a fixture without `elsewhere`: %s', async (caseId) => {
    const { create, ...store } = sharedStoreUnderTest();
    const without = async () => ({ ...(await create()), elsewhere: undefined as never });
    const [result] = await runStoreConformance({ ...store, create: without }, [caseId]);
    expect(result).toMatchObject({ status: 'skipped', reason: expect.stringMatching(/elsewhere|unshare/) });
  });
});
