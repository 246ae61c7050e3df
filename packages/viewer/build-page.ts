import { copyFile, mkdir, rm } from 'node:fs/promises';
import { build } from 'esbuild';
import { writeLicences } from '../../scripts/licences.ts';

// Bundles the page beside the built server, which reads it from there.
const out = new URL('dist/page/', import.meta.url);
const from = new URL('src/page/', import.meta.url);
await rm(out, { recursive: true, force: true });
await mkdir(out, { recursive: true });
const { metafile } = await build({
  entryPoints: { app: new URL('main.tsx', from).pathname },
  outdir: out.pathname,
  bundle: true,
  // What is imported late is a file of its own.
  splitting: true,
  // Only patterns of commands need it.
  external: ['re2js'],
  chunkNames: '[name]-[hash]',
  minify: true,
  format: 'esm',
  target: 'es2023',
  jsx: 'automatic',
  jsxImportSource: 'preact',
  legalComments: 'linked',
  metafile: true,
});
for (const name of ['index.html', 'app.css']) await copyFile(new URL(name, from), new URL(name, out));
writeLicences(metafile, out.pathname);
