import { existsSync, globSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { describe, expect, it } from 'vitest';
import { licencesFile } from '../licences.ts';
import { root } from '../workspace.ts';

/** The bytes that a program loads at once, minified, with all that it needs of the built packages, and what is left of them when they are compressed. */
async function loaded(program: string): Promise<{ readonly bytes: number; readonly compressed: number }> {
  const { metafile, outputFiles } = await build({
    // A package that depends on all that the programs import.
    stdin: { contents: program, resolveDir: join(root, 'packages/session'), sourcefile: 'program.js' },
    bundle: true,
    minify: true,
    // What is loaded only when it is needed becomes a file of its own.
    splitting: true,
    outdir: 'out',
    format: 'esm',
    platform: 'node',
    write: false,
    metafile: true,
    logLevel: 'silent',
  });
  const paths = new Set<string>();
  const load = (path: string) => {
    const output = metafile.outputs[path];
    if (output === undefined || paths.has(path)) return;
    paths.add(path);
    for (const { path: next, kind } of output.imports) if (kind === 'import-statement') load(next);
  };
  load('out/stdin.js');
  const texts = outputFiles
    .filter(({ path }) => paths.has(relative(process.cwd(), path)))
    .map(({ text }) => text);
  return {
    bytes: texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0),
    compressed: texts.reduce((sum, text) => sum + gzipSync(text).length, 0),
  };
}

describe('a bundled program', () => {
  it('that makes events loads at most 60 KB', async () => {
    const { bytes } = await loaded(`
      import { newEvent } from '@hansard/events';
      console.log(newEvent('agent:text', { text: 'Hello.' }));`);
    expect(bytes).toBeGreaterThan(50);
    expect(bytes).toBeLessThanOrEqual(60_000);
  });

  it('that records into memory loads at most 230 KB, 71 KB compressed', async () => {
    const { bytes, compressed } = await loaded(`
      import { openDispatchStore } from '@hansard/dispatch/record';
      import { newEvent } from '@hansard/events';
      import { createMemoryStore } from '@hansard/store-memory';
      const store = openDispatchStore(createMemoryStore());
      const dispatch = await store.beginDispatch('lab/tasks/one', { role: 'writer' });
      await dispatch.append(newEvent('agent:text', { text: 'Hello.' }));
      await dispatch.end({ status: 'completed' });
      await store.close();`);
    expect(bytes).toBeGreaterThan(50_000);
    expect(bytes).toBeLessThanOrEqual(230_000);
    expect(compressed).toBeLessThanOrEqual(71_000);
  });
});

describe('a built package', () => {
  /** Before the code of each file, esbuild names it. */
  const named = /^\/\/ (?:\.\.\/)*node_modules\/.*\bnode_modules\/((?:@[^/]+\/)?[^/]+)\//gm;

  it('ships the licence of each library whose code it has', () => {
    const libraries = globSync('{packages,plugins,apps}/*/dist', { cwd: root }).flatMap((folder) => {
      const code = globSync('**/*.js', { cwd: join(root, folder) }).map((file) =>
        readFileSync(join(root, folder, file), 'utf8'),
      );
      const names = new Set(code.flatMap((text) => [...text.matchAll(named)].map(([, name]) => `${name}`)));
      const file = join(root, folder, licencesFile);
      const texts = existsSync(file) ? readFileSync(file, 'utf8').split('\n\n---\n\n') : [];
      for (const name of names) {
        const licence = texts.find((text) => text.startsWith(`${name}\n\n`)) ?? '';
        expect(licence.length, `the licence of ${name} in ${folder}`).toBeGreaterThan(200);
      }
      return [...names];
    });
    expect(libraries).toEqual(expect.arrayContaining(['zod', 'devalue', 'loupe', 'gpt-tokenizer']));
    const page = readFileSync(join(root, 'packages/viewer/dist/page', licencesFile), 'utf8');
    expect(page).toContain('preact\n\n');
  });
});
