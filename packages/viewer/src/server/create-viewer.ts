import { readdir, readFile } from 'node:fs/promises';
import type { Server } from 'node:http';
import { hostname, type NetworkInterfaceInfo, networkInterfaces } from 'node:os';
import { dispatchErrors, type NoteWriter } from '@hansard/dispatch';
import { storeErrors } from '@hansard/provider';
import { createAdaptorServer } from '@hono/node-server';
import { Hono } from 'hono';
import { HTTPException } from 'hono/http-exception';
import { viewerErrors } from '../viewer-errors.ts';
import { contextRoutes } from './context/context-routes.ts';
import { type GuardOptions, guard, OneTimeCodes, randomToken } from './guard.ts';
import { lensRoutes, searchRoutes } from './lenses/lens-routes.ts';
import { marksPath, marksRoutes } from './marks-routes.ts';
import { routes } from './routes.ts';
import { runPath, runRoutes, type ViewedRuns } from './viewed-runs.ts';
import { OpenDispatches, type ViewedStore, viewedStore } from './viewed-store.ts';

const loopback: readonly string[] = ['127.0.0.1', 'localhost', '::1'];

const everyAddress: readonly string[] = ['0.0.0.0', '::'];

/** The files of the page. */
const files = {
  '/': ['index.html', 'text/html; charset=utf-8'],
  '/app.js': ['app.js', 'text/javascript; charset=utf-8'],
  '/app.css': ['app.css', 'text/css; charset=utf-8'],
} as const;

/** The built page: beside the built server, or from the sources in the folder of the build. */
const folder = new URL(import.meta.url.endsWith('.ts') ? '../../dist/page/' : './page/', import.meta.url);

/** The page and its answers for one store. Without `runs` and `notes` it reads only; it claims no session and ends none. */
export function createViewer({
  store,
  token: ownToken,
  runs,
  notes,
}: {
  readonly store: ViewedStore;
  /** Anyone with this token can read everything. Absent: 128 random bits. */
  readonly token?: string;
  /**
   * The dispatches that run in this process: the page shows what their agents are writing, sends them messages and stops them. Absent: the
   * viewer takes nothing for them.
   */
  readonly runs?: ViewedRuns;
  /** Records the marks that people make on the page, under the name of its reader. Absent: the page shows marks, and takes none. */
  readonly notes?: NoteWriter | undefined;
}): {
  /** The routes, guarded. Until it is started, every host is another one. */
  readonly app: Hono;
  readonly token: string;
  /** Listens. @throws VIEW_TOKEN_NEEDED, VIEW_PORT_UNUSABLE, VIEW_ADDRESS_UNKNOWN */
  start(options?: StartOptions): Promise<RunningViewer>;
} {
  const token = ownToken ?? randomToken();
  let hosts: readonly string[] = [];
  const viewed = viewedStore(store);
  const app = new Hono();
  const codes = new OneTimeCodes();
  const posts = [...(runs === undefined ? [] : [runPath]), ...(notes === undefined ? [] : [marksPath])];
  app.use(guard({ token, hosts: () => hosts, codes, postPaths: posts }));
  app.onError((error, context) => {
    if (error instanceof HTTPException) return context.json({ message: error.message }, error.status);
    if (viewerErrors.is(error)) {
      const status = error.code === 'VIEW_RUN_NOT_HERE' ? 409 : 400;
      return context.json({ code: error.code, message: error.message }, status);
    }
    if (dispatchErrors.is(error)) return context.json({ code: error.code, message: error.message }, 400);
    if (storeErrors.is(error)) {
      const status = error.code === 'STORE_DISPATCH_NOT_FOUND' ? 404 : 503;
      return context.json({ code: error.code, message: error.message }, status);
    }
    return context.json({ message: error.message }, 500);
  });
  const dispatches = new OpenDispatches(viewed);
  app.route('/api', routes(viewed, dispatches, runs));
  app.route('/api', lensRoutes(viewed, dispatches));
  app.route('/api', marksRoutes(viewed, dispatches, notes));
  if (runs !== undefined) app.route('/api/d/:task/:id', runRoutes(runs));
  app.route('/api', contextRoutes(dispatches));
  app.route('/api', searchRoutes(viewed, dispatches));
  app.route('/', pageFiles());
  return {
    app,
    token,
    start: async (options = {}) => {
      const { host = '127.0.0.1' } = options;
      if (ownToken === undefined && !isLoopback(host))
        throw viewerErrors.error(
          'VIEW_TOKEN_NEEDED',
          `A viewer at ${host} can be reached from other machines, so it needs a token of your own.`,
          { details: { host } },
        );
      const running = await startViewer(app, { token, codes }, options);
      hosts = running.hosts;
      return running;
    },
  };
}

/** The page. */
function pageFiles(): Hono {
  const app = new Hono();
  for (const [path, [name, type]] of Object.entries(files))
    app.get(path, async (context) => {
      context.header('content-type', type);
      return context.body(await readFile(new URL(name, folder)));
    });
  // The parts of the page that are loaded when they are needed.
  app.get('/:part{[a-z-]+-[A-Z0-9]+\\.js}', async (context) => {
    const name = context.req.param('part');
    if (!(await readdir(folder)).includes(name)) return context.notFound();
    context.header('content-type', files['/app.js'][1]);
    return context.body(await readFile(new URL(name, folder)));
  });
  return app;
}

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
async function startViewer(
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
