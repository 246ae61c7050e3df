import { runnableCases } from '../store-conformance-cases.ts';
import { type CaseCounts, defaultCaseLimitMs, noCounts, openCase } from './case-context.ts';
import { appliesTo, type RunnableCase, SkippedCase, type StoreConformanceCase } from './conformance-case.ts';
import type { StoreUnderTest } from './store-under-test.ts';

/** The cases for a store. @throws TypeError if a known gap is not one of them */
export function casesFor({ capabilities, knownGaps = {} }: StoreUnderTest): readonly RunnableCase[] {
  const cases = runnableCases.filter((one) => appliesTo(one, capabilities));
  const unknown = Object.keys(knownGaps).filter((id) => !cases.some((one) => one.id === id));
  if (unknown.length > 0)
    throw new TypeError(
      `No case for a store with these capabilities is called ${unknown.join(' or ')}: see knownGaps.`,
    );
  return cases;
}

/** The result of one case. */
export interface CaseResult {
  /** `gap`: it failed as `knownGaps` says. A known gap that passes is `failed`. */
  readonly status: 'passed' | 'failed' | 'skipped' | 'gap';
  /** The error of a case that is `failed` or a `gap`; null otherwise. */
  readonly error: unknown;
  /**
   * What the store claims, in words, where the case was skipped because the fixture gives no means to test it: the claim is then not
   * certified. Null otherwise.
   */
  readonly notCertified: string | null;
  /** The reason of a skipped case or a known gap; null otherwise. */
  readonly reason: string | null;
  /** What the case did until it ended. */
  readonly counts: Readonly<CaseCounts>;
}

/**
 * Runs one case on its own store, which is closed and removed afterwards, including when the case failed. A case that does not
 * end, or whose store does not close, within `caseLimitMs` has failed; its store is left as it is.
 */
export async function runCase(one: RunnableCase, options: StoreUnderTest): Promise<CaseResult> {
  const gap = options.knownGaps?.[one.id] ?? null;
  const { error, counts } = await inTurn(one, () => failureInTime(one, options));
  if (error instanceof SkippedCase)
    return { status: 'skipped', error: null, reason: error.message, notCertified: error.claim, counts };
  const rest = { notCertified: null, counts };
  if (gap === null) return { status: error === null ? 'passed' : 'failed', error, reason: null, ...rest };
  if (error !== null) return { status: 'gap', error, reason: gap, ...rest };
  const closed = new Error(`${one.id} passes. Remove it from knownGaps, which has it because: ${gap}`);
  return { status: 'failed', error: closed, reason: null, ...rest };
}

/** The cases that run, or wait for one that runs alone. */
const others = new Set<Promise<unknown>>();
let alone: Promise<unknown> = Promise.resolve();

/** Runs a case beside the others, or, if it must run alone, after those that were begun before it and before those that come later. */
function inTurn<T>(one: RunnableCase, run: () => Promise<T>): Promise<T> {
  if (one.alone) {
    const result = Promise.allSettled([alone, ...others]).then(run);
    alone = result.catch(() => {});
    return result;
  }
  const result = alone.then(run);
  others.add(result);
  const ended = () => others.delete(result);
  result.then(ended, ended);
  return result;
}

interface Failure {
  /** Null: the case passed. */
  readonly error: unknown;
  readonly counts: Readonly<CaseCounts>;
}

async function failureInTime(one: RunnableCase, options: StoreUnderTest): Promise<Failure> {
  const { caseLimitMs = defaultCaseLimitMs } = options;
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<Failure>((resolve) => {
    timer = setTimeout(() => {
      const error = new Error(`The case did not end within ${caseLimitMs} ms.`);
      resolve({ error, counts: noCounts() });
    }, caseLimitMs);
  });
  try {
    return await Promise.race([failureOf(one, options), late]);
  } finally {
    clearTimeout(timer);
  }
}

async function failureOf(one: RunnableCase, options: StoreUnderTest): Promise<Failure> {
  const errors: unknown[] = [];
  const { context, counts, cleanUp } = await openCase(options);
  try {
    await one.run(context);
  } catch (error) {
    errors.push(error);
  }
  const inCleaningUp = await cleanUp();
  if (inCleaningUp.length > 0 && errors[0] instanceof SkippedCase) errors.length = 0;
  errors.push(...inCleaningUp);
  const error: unknown =
    errors.length > 1
      ? new AggregateError(errors, errors.map(String).join('\nand in cleaning up: '))
      : (errors[0] ?? null);
  return { error, counts };
}

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
            const { status, error, reason, notCertified } = await runCase(one, options);
            if (status === 'failed') throw error;
            if (status === 'skipped')
              skip(
                context,
                `${one.id} was skipped: ${reason}${notCertified === null ? '' : `. Not certified: ${notCertified}`}`,
              );
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
