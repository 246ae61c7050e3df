import { afterAll, beforeAll, describe } from 'vitest';
import { redisVersion, startRedis, type TestRedis } from './start-redis.ts';

/** `describe` where this machine has a Redis server; otherwise its tests are skipped, and the summary of the run says so. */
export const describeWithRedis = describe.skipIf(redisVersion() === null);

/** The server of this test file, for use inside its tests. */
export function useRedis(settings?: readonly string[]): () => TestRedis {
  let server: TestRedis | undefined;
  beforeAll(async () => {
    if (redisVersion() !== null) server = await startRedis(settings);
  });
  afterAll(() => server?.stop());
  return () => {
    if (server === undefined) throw new Error('The server runs only inside tests.');
    return server;
  };
}
