import type { Awaitable } from '@hansard/provider';

export function isPromise<T>(answer: Awaitable<T>): answer is Promise<T> {
  return typeof (answer as { then?: unknown } | null | undefined)?.then === 'function';
}
