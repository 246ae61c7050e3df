/** The seed to replay, from the options or the environment; otherwise another one in each run. */
export function chooseSeed(given: number | undefined): number {
  const fromEnvironment = process.env.HANSARD_SEED;
  const seed = given ?? (fromEnvironment ? Number(fromEnvironment) : Date.now() % 2 ** 32);
  if (!Number.isSafeInteger(seed) || seed < 0)
    throw new TypeError(`A seed is a whole number from 0, not ${JSON.stringify(given ?? fromEnvironment)}.`);
  return seed;
}
