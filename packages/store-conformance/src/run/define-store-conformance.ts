import type { StoreConformanceCase } from './conformance-case.ts';
import { casesFor, runCase, type StoreUnderTest } from './run-case.ts';

export interface StoreConformanceOptions extends StoreUnderTest {
  /** The store's name, for the titles. */
  readonly name: string;
  /** `describe` and `it` of the test runner: vitest's, those of `node:test`, or any that take a name and a function. */
  readonly describe: (name: string, body: () => void) => void;
  readonly it: (name: string, body: () => Promise<void>) => void;
}

/** Defines a test for each case of the store contract that applies to a store with these capabilities. */
export function defineStoreConformance(options: StoreConformanceOptions): void {
  const cases = casesFor(options);
  const families = new Set(cases.map(familyOf));
  options.describe(`${options.name} keeps the store contract`, () => {
    for (const family of families) {
      options.describe(family, () => {
        for (const one of cases.filter((each) => familyOf(each) === family))
          options.it(`${one.id}: ${one.title}`, () => runCase(one, options));
      });
    }
  });
}

function familyOf({ id }: StoreConformanceCase): string {
  return id.slice(0, id.indexOf('/'));
}
