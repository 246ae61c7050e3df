import { readFile } from 'node:fs/promises';
import { Hono } from 'hono';

/** The files of the page. */
const files = {
  '/': ['index.html', 'text/html; charset=utf-8'],
  '/app.js': ['app.js', 'text/javascript; charset=utf-8'],
  '/app.css': ['app.css', 'text/css; charset=utf-8'],
} as const;

/** The built page: beside the built server, or from the sources in the folder of the build. */
const folder = new URL(import.meta.url.endsWith('.ts') ? '../../dist/page/' : './page/', import.meta.url);

/** The page. */
export function pageFiles(): Hono {
  const app = new Hono();
  for (const [path, [name, type]] of Object.entries(files))
    app.get(path, async (context) => {
      context.header('content-type', type);
      return context.body(await readFile(new URL(name, folder)));
    });
  return app;
}
