import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { pluginManifestJsonSchema } from '../src/index.ts';
import { pluginManifestSchema, readPluginManifest } from '../src/plugin-manifest.ts';
import { createWorkspace } from './plugin-workspace.ts';

const manifest = {
  id: 'store-x',
  provides: 'DispatchStoreProvider',
  entry: './dist/index.js',
  apiVersion: 1,
};

describe('a manifest', () => {
  it('takes name, version and description from the package.json beside it, where it has none itself', async () => {
    const { baseDir, plugin } = createWorkspace();
    const packageJson = { name: '@acme/x', version: '2.0.0', description: 'Keeps.', author: 'somebody' };
    plugin('one', { manifest: { ...manifest, name: 'X' }, packageJson });
    expect(await readPluginManifest(join(baseDir, 'one'))).toEqual({
      ...manifest,
      name: 'X',
      version: '2.0.0',
      description: 'Keeps.',
    });
  });

  it('needs no package.json', async () => {
    const { baseDir, plugin } = createWorkspace();
    plugin('one', { manifest });
    expect(await readPluginManifest(join(baseDir, 'one'))).toEqual(manifest);
  });

  it('that is missing is unreadable, with the file and the cause', async () => {
    const { baseDir } = createWorkspace();
    await expect(readPluginManifest(baseDir)).rejects.toMatchObject({
      code: 'PLUGIN_MANIFEST_UNREADABLE',
      details: { file: join(baseDir, 'plugin.json') },
      cause: { code: 'ENOENT' },
    });
  });

  it.each([
    ['id', ['Store', 'store_x', '-x', 'x-', 'x--y', '1x', '', 'x'.repeat(65), 7]],
    ['provides', ['Store', 'dispatchStoreProvider', 'Dispatch-Provider', '']],
    [
      'entry',
      [
        '/abs.js',
        '../up.js',
        'a/../b.js',
        'a/./b.js',
        'C:/x.js',
        'a\\b.js',
        'data:text/javascript,1',
        '',
        './',
        'a//b',
      ],
    ],
    ['apiVersion', [0, 1.5, '1', null]],
    ['configSchema', [true, [], 'schema']],
  ])('with a wrong %s is not valid, also for an editor', (key, values) => {
    const validate = new Ajv2020().compile(pluginManifestJsonSchema());
    for (const value of values) {
      const wrong = { ...manifest, [key]: value };
      expect(pluginManifestSchema.safeParse(wrong).success, String(value)).toBe(false);
      expect(validate(wrong), String(value)).toBe(false);
    }
  });

  it.each([
    ['id', ['x', 'store-jsonfile', 'a1-b2']],
    ['provides', ['DispatchStoreProvider', 'ClockProvider']],
    ['entry', ['index.js', './index.js', './dist/a/b.mjs', '.hidden/..x.js']],
  ])('with a good %s is valid, also for an editor', (key, values) => {
    const validate = new Ajv2020().compile(pluginManifestJsonSchema());
    for (const value of values) {
      const good = { $schema: 'x', ...manifest, [key]: value };
      expect(pluginManifestSchema.safeParse(good).success, value).toBe(true);
      expect(validate(good), value).toBe(true);
    }
  });

  it('with a key of a newer version loads, and an editor points at the key', () => {
    const newer = { ...manifest, homepage: 'x' };
    expect(pluginManifestSchema.parse(newer)).toEqual(manifest);
    expect(new Ajv2020().compile(pluginManifestJsonSchema())(newer)).toBe(false);
  });
});
