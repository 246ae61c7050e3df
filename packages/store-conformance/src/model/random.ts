/** Random choices that a seed repeats. */
export interface Random {
  /** A whole number from 0 to below `end`. */
  below(end: number): number;
  pick<T>(items: readonly [T, ...T[]]): T;
}

/** The mulberry32 generator: 32 bits of state, good enough to choose test steps by. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const below = (end: number) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * end);
  };
  return { below, pick: (items) => items[below(items.length)] ?? items[0] };
}

/** The seed to replay, from the options or the environment; otherwise another one in each run. */
export function chooseSeed(given: number | undefined): number {
  const fromEnvironment = process.env.HANSARD_SEED;
  const seed = given ?? (fromEnvironment ? Number(fromEnvironment) : Date.now() % 2 ** 32);
  if (!Number.isSafeInteger(seed) || seed < 0)
    throw new TypeError(`A seed is a whole number from 0, not ${JSON.stringify(given ?? fromEnvironment)}.`);
  return seed;
}
