import type { Server } from 'node:http';
import { hostname, type NetworkInterfaceInfo, networkInterfaces } from 'node:os';
import { createAdaptorServer } from '@hono/node-server';
import type { Hono } from 'hono';
import { viewerErrors } from '../viewer-errors.ts';
import type { GuardOptions } from './guard.ts';

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

/** What a machine is called. */
export interface MachineNames {
  readonly interfaces: NodeJS.Dict<readonly Pick<NetworkInterfaceInfo, 'address' | 'family' | 'internal'>[]>;
  readonly name: string;
}

const loopback: readonly string[] = ['127.0.0.1', 'localhost', '::1'];
const everyAddress: readonly string[] = ['0.0.0.0', '::'];

/** Whether only programs of this machine can connect to a host. */
export function isLoopback(host: string): boolean {
  return loopback.includes(host);
}

/**
 * The `Host` values of a server that listens at a host, which are the only ones that it answers. The first is the one to open. With
 * `0.0.0.0` or `::` they are the addresses of the machine, its name and `localhost`.
 */
export function hostsAt(host: string, port: number, machine: MachineNames = thisMachine()): string[] {
  const names = new Set([host]);
  if (host === '127.0.0.1' || host === '::1') names.add('localhost');
  if (everyAddress.includes(host)) {
    names.delete(host);
    const addresses = Object.values(machine.interfaces).flatMap((infos = []) => infos);
    const isReachable = ({ family }: { readonly family: string }) => family === 'IPv4' || host === '::';
    // Addresses of other machines' reach first: one of them is to be opened.
    for (const isInternal of [false, true])
      for (const info of addresses)
        if (info.internal === isInternal && isReachable(info) && !info.address.startsWith('fe80:'))
          names.add(info.address);
    for (const name of ['127.0.0.1', 'localhost', machine.name]) names.add(name);
  }
  return [...names].map((name) => `${name.includes(':') ? `[${name}]` : name.toLowerCase()}:${port}`);
}

function thisMachine(): MachineNames {
  return { interfaces: networkInterfaces(), name: hostname() };
}
