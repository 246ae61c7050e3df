import { type CaseResult, casesFor, runCase } from './run-case.ts';
import type { StoreUnderTest } from './store-under-test.ts';

export interface StoreConformanceResult extends CaseResult {
  /** The case's id. */
  readonly id: string;
}

/**
 * Runs cases one after the other, without a test runner, and returns the result of each: all that apply to the store, or
 * those with the ids in `only`. An unknown id is a TypeError.
 */
export async function runStoreConformance(
  store: StoreUnderTest,
  only?: readonly string[],
): Promise<readonly StoreConformanceResult[]> {
  const cases = casesFor(store);
  const unknown = only?.filter((id) => !cases.some((one) => one.id === id)) ?? [];
  if (unknown.length > 0)
    throw new TypeError(`No case for a store with these capabilities is called ${unknown.join(' or ')}.`);
  const results: StoreConformanceResult[] = [];
  for (const one of cases) {
    if (only !== undefined && !only.includes(one.id)) continue;
    results.push({ id: one.id, ...(await runCase(one, store)) });
  }
  return results;
}
