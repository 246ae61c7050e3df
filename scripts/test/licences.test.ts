import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build, type Metafile } from 'esbuild';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { licencesFile, writeLicences } from '../licences.ts';

describe('the licences of libraries whose code is in a bundle', () => {
  let folder = '';
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'hansard-licences-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it('are shipped beside the bundle, each once, and those of unused libraries are not', async () => {
    library('@them/used', 'Permission of them');
    library('also-used', 'Permission of others');
    library('dropped', 'Never read');
    const metafile = await bundle(
      "export { name } from '@them/used'; export { name as other } from 'also-used'; import 'dropped';",
    );
    writeLicences(metafile, folder);
    expect(readFileSync(join(folder, licencesFile), 'utf8')).toBe(
      '@them/used\n\nPermission of them\n\n---\n\nalso-used\n\nPermission of others\n',
    );
  });

  it('are gone when a later build has none of their code', async () => {
    library('used', 'Permission');
    writeLicences(await bundle("export { name } from 'used';"), folder);
    expect(existsSync(join(folder, licencesFile))).toBe(true);
    writeLicences(await bundle('export const mine = 1;'), folder);
    expect(existsSync(join(folder, licencesFile))).toBe(false);
  });

  it('stop the build where a library has none', async () => {
    library('unlicensed', null);
    const metafile = await bundle("export { name } from 'unlicensed';");
    expect(() => writeLicences(metafile, folder)).toThrow(
      'unlicensed, of which the bundle has code, has no file with its licence.',
    );
  });

  function library(name: string, licence: string | null): void {
    const home = join(folder, 'node_modules', name);
    mkdirSync(home, { recursive: true });
    writeFileSync(
      join(home, 'package.json'),
      JSON.stringify({ name, main: 'index.js', type: 'module', sideEffects: false }),
    );
    writeFileSync(join(home, 'index.js'), `export const name = '${name}';\n`);
    if (licence !== null) writeFileSync(join(home, 'LICENSE'), `${licence}\n`);
  }

  async function bundle(source: string): Promise<Metafile> {
    const { metafile } = await build({
      stdin: { contents: source, resolveDir: folder },
      bundle: true,
      format: 'esm',
      write: false,
      metafile: true,
      logLevel: 'silent',
      outfile: join(folder, 'bundle.js'),
    });
    return metafile;
  }
});
