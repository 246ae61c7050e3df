import type { Server } from 'node:http';
import { createAdaptorServer } from '@hono/node-server';
import type { Hono } from 'hono';
import { viewerErrors } from '../viewer-errors.ts';
import type { GuardOptions } from './guard.ts';
import { hostsAt } from './listening-address.ts';

export interface StartOptions {
  /** Absent, or 0: any port that is free. */
  readonly port?: number;
  /**
   * Where to listen: an address or a name of this machine, or `0.0.0.0` for all of its addresses. There is no TLS: who can read the
   * traffic between can read the token and the log. Absent: 127.0.0.1, where other machines cannot connect.
   */
  readonly host?: string;
}

export interface RunningViewer {
  /** The address with the token, to open in a browser. */
  readonly url: string;
  /**
   * Another address, valid for one opening. Give this one to a program that opens it: other users of the machine can read the
   * arguments of programs.
   */
  openOnce(): string;
  readonly port: number;
  /** The `Host` values that the viewer answers. */
  readonly hosts: readonly string[];
  /** Ends every connection. */
  close(): Promise<void>;
}

/** Listens at one address, or at all of the machine. */
export async function startViewer(
  app: Hono,
  { token, codes }: Pick<GuardOptions, 'token' | 'codes'>,
  { port: wanted = 0, host = '127.0.0.1' }: StartOptions,
): Promise<RunningViewer> {
  const server = createAdaptorServer({ fetch: app.fetch, overrideGlobalObjects: false }) as Server;
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(inWords(error, wanted, host)));
    server.listen(wanted, host, resolve);
  });
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : wanted;
  const hosts = hostsAt(host, port);
  return {
    url: `http://${hosts[0]}/?t=${token}`,
    openOnce: () => `http://${hosts[0]}/?once=${codes.make()}`,
    port,
    hosts,
    close: () =>
      new Promise((resolve, reject) => {
        server.close((error) => (error === undefined ? resolve() : reject(error)));
        server.closeAllConnections();
      }),
  };
}

/** Why the viewer cannot listen, with a code of ours where it is known. */
function inWords(cause: NodeJS.ErrnoException, port: number, host: string): Error {
  const { code } = cause;
  if (code === 'EADDRINUSE' || code === 'EACCES') {
    const message = code === 'EACCES' ? `You may not listen at port ${port}.` : `Port ${port} is in use.`;
    return viewerErrors.error('VIEW_PORT_UNUSABLE', message, { cause, details: { port } });
  }
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND' || code === 'EAI_AGAIN')
    return viewerErrors.error('VIEW_ADDRESS_UNKNOWN', `${host} is not an address of this machine.`, {
      cause,
      details: { host },
    });
  return cause;
}
