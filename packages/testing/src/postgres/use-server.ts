import { afterAll, beforeAll } from 'vitest';
import { startServer, type TestServer } from './start-server.ts';

/** Milliseconds, for a machine that does much else. */
const hookTimeout = 60_000;

/** The server of this test file, for use inside its tests. */
export function useServer(...settings: readonly string[]): () => TestServer {
  let server: TestServer | undefined;
  beforeAll(async () => {
    server = await startServer(settings);
  }, hookTimeout);
  afterAll(() => server?.stop(), hookTimeout);
  return () => {
    if (server === undefined) throw new Error('The server runs only inside tests.');
    return server;
  };
}
