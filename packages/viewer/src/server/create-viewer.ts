import { readFile } from 'node:fs/promises';
import { storeErrors } from '@hansard/provider';
import { Hono } from 'hono';
import { HTTPException } from 'hono/http-exception';
import { viewerErrors } from '../viewer-errors.ts';
import { contextRoutes } from './context/context-routes.ts';
import { guard, OneTimeCodes, randomToken } from './guard.ts';
import { lensRoutes } from './lenses/lens-routes.ts';
import { routes } from './routes.ts';
import { searchRoutes } from './search/search-routes.ts';
import { isLoopback, type RunningViewer, type StartOptions, startViewer } from './start-viewer.ts';
import { runPath, runRoutes, type ViewedRuns } from './viewed-runs.ts';
import { OpenDispatches, type ViewedStore, viewedStore } from './viewed-store.ts';

/** The files of the page. */
const files = {
  '/': ['index.html', 'text/html; charset=utf-8'],
  '/app.js': ['app.js', 'text/javascript; charset=utf-8'],
  '/app.css': ['app.css', 'text/css; charset=utf-8'],
} as const;

/** The built page: beside the built server, or from the sources in the folder of the build. */
const folder = new URL(import.meta.url.endsWith('.ts') ? '../../dist/page/' : './page/', import.meta.url);

export interface Viewer {
  /** The routes, guarded. Until it is started, every host is another one. */
  readonly app: Hono;
  readonly token: string;
  /** Listens. @throws VIEW_TOKEN_NEEDED, VIEW_PORT_UNUSABLE, VIEW_ADDRESS_UNKNOWN */
  start(options?: StartOptions): Promise<RunningViewer>;
}

/** The page and its answers for one store. Without `runs` it reads only; it claims nothing and ends no dispatch. */
export function createViewer({
  store,
  token: ownToken,
  runs,
}: {
  readonly store: ViewedStore;
  /** Anyone with this token can read everything. Absent: 128 random bits. */
  readonly token?: string;
  /**
   * The dispatches that run in this process: the page shows what their agents are writing, sends them messages and stops them. Absent: the
   * viewer answers GET and HEAD only.
   */
  readonly runs?: ViewedRuns;
}): Viewer {
  const token = ownToken ?? randomToken();
  let hosts: readonly string[] = [];
  const viewed = viewedStore(store);
  const app = new Hono();
  const codes = new OneTimeCodes();
  app.use(guard({ token, hosts: () => hosts, codes, postPath: runs === undefined ? null : runPath }));
  app.onError((error, context) => {
    if (error instanceof HTTPException) return context.json({ message: error.message }, error.status);
    if (viewerErrors.is(error)) {
      const status = error.code === 'VIEW_RUN_NOT_HERE' ? 409 : 400;
      return context.json({ code: error.code, message: error.message }, status);
    }
    if (storeErrors.is(error)) {
      const status = error.code === 'STORE_DISPATCH_NOT_FOUND' ? 404 : 503;
      return context.json({ code: error.code, message: error.message }, status);
    }
    return context.json({ message: error.message }, 500);
  });
  const dispatches = new OpenDispatches(viewed);
  app.route('/api', routes(viewed, dispatches, runs));
  app.route('/api', lensRoutes(viewed, dispatches));
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
  return app;
}
