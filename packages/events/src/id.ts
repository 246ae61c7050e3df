const digits = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const timeDigits = 10;
const randomDigits = 16;
const latestTime = 2 ** 48 - 1;

/** Creates ids. */
export type IdSource = () => string;

/**
 * Creates ULIDs that always grow, even within one millisecond and when the clock goes back.
 * `now` returns milliseconds since 1970; `random` returns numbers from 0 to below 1.
 */
export function createIdSource(
  options: { readonly now?: () => number; readonly random?: () => number } = {},
): IdSource {
  const now = options.now ?? Date.now;
  const random = options.random ?? createRandom();
  let latest = 0;
  let previous = '';
  return () => {
    const time = Math.max(1, Math.floor(now()));
    if (time > latest) {
      latest = time;
      const fresh = newUlid(time, random);
      if (fresh > previous) {
        previous = fresh;
        return fresh;
      }
    }
    previous = nextUlid(previous);
    return previous;
  };
}

/** The time as 48 bits and 80 random bits, five bits per digit. @throws RangeError for a time that 48 bits cannot hold */
function newUlid(time: number, random: () => number): string {
  if (time > latestTime) throw new RangeError(`${time} is too late for a ULID.`);
  let text = '';
  for (let rest = time; text.length < timeDigits; rest = Math.floor(rest / 32))
    text = digits[rest % 32] + text;
  for (let count = 0; count < randomDigits; count += 1) text += digits[Math.floor(random() * 32) % 32];
  return text;
}

/** The next ULID. @throws RangeError for the last one */
function nextUlid(previous: string): string {
  let at = previous.length - 1;
  while (previous[at] === 'Z') at -= 1;
  if (at < 0) throw new RangeError(`There is no ULID after ${previous}.`);
  const digit = digits[digits.indexOf(previous[at] ?? '') + 1];
  return previous.slice(0, at) + digit + '0'.repeat(previous.length - 1 - at);
}

/** Random numbers from 0 to below 1 from the system's generator, read in blocks: one by one is 50 times slower. */
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
