import type { StoreConformanceCase } from './conformance-case.ts';
import { casesFor, runCase } from './run-case.ts';
import type { StoreUnderTest } from './store-under-test.ts';

export interface StoreConformanceOptions extends StoreUnderTest {
  /** The store's name, for the titles. */
  readonly name: string;
  /** `describe` and `it` of the test runner: vitest's, those of `node:test`, or any that take a name and a function. */
  readonly describe: (name: string, body: () => void) => void;
  /** The body is called with the context of the test, if the runner has one; a skipped case calls its `skip`. */
  readonly it: (name: string, body: (context?: unknown) => Promise<void>) => void;
}

/** Defines a test for each case of the store contract that applies to a store with these capabilities. */
export function defineStoreConformance(options: StoreConformanceOptions): void {
  const cases = casesFor(options);
  const families = new Set(cases.map(familyOf));
  options.describe(`${options.name} keeps the store contract`, () => {
    for (const family of families) {
      options.describe(family, () => {
        for (const one of cases.filter((each) => familyOf(each) === family))
          options.it(titleOf(one, options), async (context) => {
            const { status, error, reason } = await runCase(one, options);
            if (status === 'failed') throw error;
            if (status === 'skipped') skip(context, `${one.id} was skipped: ${reason}`);
          });
      });
    }
  });
}

function titleOf({ id, title }: StoreConformanceCase, { knownGaps }: StoreUnderTest): string {
  const gap = knownGaps?.[id];
  return gap === undefined ? `${id}: ${title}` : `${id}: ${title} (known gap: ${gap})`;
}

/** With a runner that cannot skip a running test, the reason is a warning of the process. */
function skip(context: unknown, reason: string): void {
  const skips = context as { readonly skip?: (reason: string) => void } | undefined;
  if (typeof skips?.skip === 'function') skips.skip(reason);
  else process.emitWarning(reason, 'StoreConformanceWarning');
}

function familyOf({ id }: StoreConformanceCase): string {
  return id.slice(0, id.indexOf('/'));
}
