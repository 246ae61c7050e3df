import { eventErrors } from '@hansard/events';
import { storeErrors } from '@hansard/provider';

/** The code of what a promise rejects with; fails where it resolves. */
export async function codeOf(promise: Promise<unknown>): Promise<string> {
  const error: unknown = await promise.then(
    () => null,
    (reason) => reason,
  );
  if (eventErrors.is(error) || storeErrors.is(error)) return error.code;
  throw error ?? new Error('it resolved');
}
