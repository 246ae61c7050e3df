import type { Server } from 'node:http';
import { createAdaptorServer } from '@hono/node-server';
import type { Hono } from 'hono';

export interface StartOptions {
  /** Absent, or 0: any port that is free. */
  readonly port?: number;
}

export interface RunningViewer {
  /** The address with the token, to open in a browser. */
  readonly url: string;
  readonly port: number;
  /** The `Host` values that the viewer answers. */
  readonly hosts: readonly string[];
  /** Ends every connection. */
  close(): Promise<void>;
}

const loopback = '127.0.0.1';

/** Listens on the loopback address only. */
export async function startViewer(
  app: Hono,
  token: string,
  { port: wanted = 0 }: StartOptions,
): Promise<RunningViewer> {
  const server = createAdaptorServer({ fetch: app.fetch, overrideGlobalObjects: false }) as Server;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(wanted, loopback, resolve);
  });
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : wanted;
  const hosts = [`${loopback}:${port}`, `localhost:${port}`];
  return {
    url: `http://${hosts[0]}/?t=${token}`,
    port,
    hosts,
    close: () =>
      new Promise((resolve, reject) => {
        server.close((error) => (error === undefined ? resolve() : reject(error)));
        server.closeAllConnections();
      }),
  };
}
