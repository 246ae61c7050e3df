import { monotonicFactory } from 'ulid';

/** Mints ids. */
export type IdSource = () => string;

/**
 * Mints ULIDs that only grow, also within one millisecond and when the clock goes back.
 * `now` gives milliseconds since 1970; `random` numbers from 0 to below 1.
 */
export function createIdSource(
  options: { readonly now?: () => number; readonly random?: () => number } = {},
): IdSource {
  const next = monotonicFactory(options.random);
  const now = options.now ?? Date.now;
  let latest = 0;
  return () => {
    latest = Math.max(latest, now());
    return next(latest);
  };
}
