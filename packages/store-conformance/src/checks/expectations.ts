import assert from 'node:assert/strict';
import { inspect } from 'node:util';
import { type Awaitable, type StoreError, storeErrors } from '@hansard/provider';
import { SkippedCase } from '../run/conformance-case.ts';

/**
 * Fails unless both are the same JSON: same types, same items, same own keys in any order. A key that is `undefined`
 * counts as absent. The message names the first place where they differ and stays short for values of any size.
 */
export function sameContent(actual: unknown, expected: unknown, what: string): void {
  const difference = findDifference(actual, expected, what);
  if (difference !== null) assert.fail(difference);
}

/** Fails unless the call throws or rejects with this code. */
export async function refuses(
  code: StoreError['code'],
  what: string,
  call: () => Awaitable<unknown>,
): Promise<void> {
  let answer: unknown;
  try {
    answer = await call();
  } catch (error) {
    if (storeErrors.is(error, code)) return;
    if (error instanceof SkippedCase) throw error;
    throw new Error(`${what} should be ${code}, but failed with ${describeError(error)}`, { cause: error });
  }
  assert.fail(`${what} should be ${code}, but answered ${preview(answer)}`);
}

/** Makes calls at the same time, whether they throw or reject. @returns the errors, in the order of the calls */
export async function errorsOf(calls: ReadonlyArray<() => Awaitable<unknown>>): Promise<unknown[]> {
  const settled = await Promise.allSettled(calls.map(async (call) => call()));
  return settled.filter((result) => result.status === 'rejected').map(({ reason }) => reason as unknown);
}

export function describeError(error: unknown): string {
  return storeErrors.is(error) ? `${error.code} (${error.message})` : String(error);
}

/** A value on one short line. */
export function preview(value: unknown): string {
  const text = inspect(value, { depth: 2, maxArrayLength: 5, maxStringLength: 80, breakLength: Infinity });
  return text.replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029');
}

function findDifference(actual: unknown, expected: unknown, path: string): string | null {
  if (Object.is(actual, expected)) return null;
  const differs = `${path} is ${preview(actual)}, expected ${preview(expected)}`;
  if (typeof actual !== 'object' || typeof expected !== 'object' || actual === null || expected === null)
    return differs;
  if (Array.isArray(actual) !== Array.isArray(expected)) return differs;
  if (Array.isArray(actual) && Array.isArray(expected)) return findInArrays(actual, expected, path);
  return findInObjects(actual as Record<string, unknown>, expected as Record<string, unknown>, path) ?? null;
}

function findInArrays(actual: readonly unknown[], expected: readonly unknown[], path: string): string | null {
  for (let index = 0; index < Math.min(actual.length, expected.length); index += 1) {
    const found = findDifference(actual[index], expected[index], `${path}[${index}]`);
    if (found !== null) return found;
  }
  if (actual.length === expected.length) return null;
  return `${path} has ${actual.length} items, expected ${expected.length}`;
}

function findInObjects(
  actual: Readonly<Record<string, unknown>>,
  expected: Readonly<Record<string, unknown>>,
  path: string,
): string | null {
  const prototype: unknown = Object.getPrototypeOf(actual);
  if (prototype !== Object.prototype && prototype !== null)
    return `${path} is ${preview(actual)}, not a plain object`;
  for (const key of new Set([...Object.keys(expected), ...Object.keys(actual)])) {
    const found = findDifference(ownValue(actual, key), ownValue(expected, key), `${path}[${preview(key)}]`);
    if (found !== null) return found;
  }
  return null;
}

function ownValue(object: Readonly<Record<string, unknown>>, key: string): unknown {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}
