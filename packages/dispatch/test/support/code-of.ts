import { isEventError } from '@hansard/events';
import { isStoreError } from '@hansard/provider';

/** The code of what a promise rejects with; fails where it resolves. */
export async function codeOf(promise: Promise<unknown>): Promise<string> {
  const error: unknown = await promise.then(
    () => null,
    (reason) => reason,
  );
  if (isEventError(error) || isStoreError(error)) return error.code;
  throw error ?? new Error('it resolved');
}
