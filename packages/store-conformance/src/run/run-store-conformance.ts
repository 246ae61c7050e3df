import { casesFor, runCase, type StoreUnderTest } from './run-case.ts';

export interface StoreConformanceResult {
  /** The case's id. */
  readonly id: string;
  /** The error of a failed case; null if it passed. */
  readonly error: unknown;
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
    const error = await runCase(one, store).then(
      () => null,
      (reason: unknown) => reason,
    );
    results.push({ id: one.id, error });
  }
  return results;
}
