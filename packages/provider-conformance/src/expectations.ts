import assert from 'node:assert/strict';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { inspect, isDeepStrictEqual } from 'node:util';
import { findNotJson, isPlainObject } from '@hansard/events/plain';
import { type Awaitable, contractVersion, describeContractProblem } from '@hansard/provider';

/** The outcome of a call that may throw, reject or return. */
export type Settled<T> = { readonly value: T } | { readonly error: unknown };

/** Makes a call whose outcome is awaited later. An early rejection has its handler at once. */
export function settling<T>(call: () => Awaitable<T>): Promise<Settled<T>> {
  return (async () => call())().then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );
}

/** Fails unless the call settles in time, however it settles. */
export async function settles<T>(
  what: string,
  patienceMs: number,
  call: () => Awaitable<T>,
): Promise<Settled<T>> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<'late'>((resolve) => {
    timer = setTimeout(resolve, patienceMs, 'late');
  });
  const work = settling(call);
  try {
    const settled = await Promise.race([work, late]);
    if (settled === 'late') assert.fail(`${what} did not settle within ${patienceMs} ms`);
    return settled;
  } finally {
    clearTimeout(timer);
  }
}

/** Fails unless the call returns in time. */
export async function returns<T>(what: string, patienceMs: number, call: () => Awaitable<T>): Promise<T> {
  const settled = await settles(what, patienceMs, call);
  if ('value' in settled) return settled.value;
  throw new Error(`${what} failed: ${String(settled.error)}`, { cause: settled.error });
}

export function expectContract(provider: object, type: string, methods: readonly string[]): void {
  const members = provider as Readonly<Record<string, unknown>>;
  const problem = describeContractProblem(members.contract);
  if (problem !== null) assert.fail(`The provider ${problem} (expected contract: ${contractVersion})`);
  const missing = methods.filter((method) => typeof members[method] !== 'function');
  assert.deepEqual(missing, [], `a ${type} needs the methods ${methods.join(', ')}`);
}

export function expectJson(value: unknown, what: string): void {
  const notJson = value === undefined ? { path: '', value } : findNotJson(value);
  if (notJson !== null)
    assert.fail(
      `${[what, notJson.path].filter((part) => part !== '').join('.')} is ${preview(notJson.value)}, which is not JSON`,
    );
}

export function expectText(value: unknown, what: string): asserts value is string {
  if (typeof value !== 'string') assert.fail(`${what} is ${preview(value)}, expected a text`);
}

export function expectObject(value: unknown, what: string): asserts value is Record<string, unknown> {
  if (!isPlainObject(value)) assert.fail(`${what} is ${preview(value)}, expected a plain object`);
}

export function expectUnchanged(value: unknown, before: unknown, what: string): void {
  if (!isDeepStrictEqual(value, before))
    assert.fail(`${what} was changed: it was ${preview(before)} and is ${preview(value)}`);
}

/** Calls `close` twice and checks that both calls are safe. */
export async function expectClosesTwice(
  provider: { close?(): Awaitable<void> },
  patienceMs: number,
): Promise<void> {
  if (provider.close === undefined) return;
  await returns('close', patienceMs, () => provider.close?.());
  await returns('a second close', patienceMs, () => provider.close?.());
}

/** Lets what is pending happen: the callbacks of timers of 0 ms, of promises and of I/O that is ready. */
export async function letPass(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await nextTurn();
}

/** A value on one short line. */
export function preview(value: unknown): string {
  return inspect(value, {
    depth: 2,
    maxArrayLength: 5,
    maxStringLength: 80,
    breakLength: Number.POSITIVE_INFINITY,
  });
}
