import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type LoadedPlugins, loadPlugins } from '../src/index.ts';
import { createWorkspace } from './plugin-workspace.ts';

function outline({ report }: LoadedPlugins): string[] {
  return report.plugins.map(({ id, state, source }) => `${id} ${state} ${source.kind}`);
}

describe('a plugin is found', () => {
  it('as a package of a node_modules folder above, whatever its exports say', async () => {
    const { baseDir, plugin } = createWorkspace();
    plugin('node_modules/@acme/store', {
      packageJson: { name: '@acme/store', version: '1.2.3', exports: {} },
    });
    mkdirSync(join(baseDir, 'project/deep'), { recursive: true });
    const loaded = await loadPlugins({
      baseDir: join(baseDir, 'project/deep'),
      plugins: [{ plugin: '@acme/store' }],
    });
    expect(loaded.report.plugins[0]).toMatchObject({
      id: 'tool',
      name: '@acme/store',
      version: '1.2.3',
      provides: 'ToolProvider',
      state: 'loaded',
      source: { kind: 'package', location: join(baseDir, 'node_modules/@acme/store') },
    });
  });

  it('as a package that comes with the app, where the project has none of that name', async () => {
    const { baseDir, plugin } = createWorkspace();
    plugin('app/node_modules/one', { manifest: { id: 'one' }, packageJson: { name: 'one' } });
    plugin('app/node_modules/two', { manifest: { id: 'two' }, packageJson: { name: 'two' } });
    plugin('project/node_modules/two', { manifest: { id: 'own-two' }, packageJson: { name: 'two' } });
    const loaded = await loadPlugins({
      baseDir: join(baseDir, 'project'),
      packageDirs: [join(baseDir, 'app')],
      plugins: [{ plugin: 'one' }, { plugin: 'two' }],
    });
    expect(outline(loaded)).toEqual(['one loaded package', 'own-two loaded package']);
  });

  it('at a path, relative to the configuration or absolute', async () => {
    const { baseDir, plugin } = createWorkspace();
    plugin('plugins/one', { manifest: { id: 'one' } });
    plugin('plugins/two', { manifest: { id: 'two' } });
    const loaded = await loadPlugins({
      baseDir,
      plugins: [{ plugin: './plugins/one' }, { plugin: join(baseDir, 'plugins/two') }],
    });
    expect(outline(loaded)).toEqual(['one loaded path', 'two loaded path']);
  });

  it('in a folder, by its id and not by the name of its subfolder', async () => {
    const { baseDir, plugin } = createWorkspace();
    plugin('plugins/subfolder', { manifest: { id: 'one' } });
    const loaded = await loadPlugins({
      baseDir,
      folders: ['plugins'],
      plugins: [{ plugin: 'subfolder' }, { plugin: 'one' }],
    });
    expect(outline(loaded)).toEqual(['subfolder failed package', 'one loaded folder']);
  });

  it('as a package before a plugin of a folder with that id, so that a workspace takes no package over', async () => {
    const { baseDir, plugin } = createWorkspace();
    plugin('node_modules/store', { manifest: { id: 'store' }, packageJson: { name: 'store' } });
    plugin('plugins/store', { manifest: { id: 'store' } });
    const loaded = await loadPlugins({ baseDir, folders: ['plugins'], plugins: [{ plugin: 'store' }] });
    expect(outline(loaded)).toEqual(['store loaded package', 'store failed folder']);
    expect(loaded.report.plugins[1]?.error?.code).toBe('PLUGIN_DUPLICATE_ID');
  });

  it('through a link, and counts as the folder that the link leads to', async () => {
    const { baseDir, plugin } = createWorkspace();
    plugin('plugins/one');
    mkdirSync(join(baseDir, 'node_modules'));
    symlinkSync(join(baseDir, 'plugins/one'), join(baseDir, 'node_modules/one'));
    const loaded = await loadPlugins({
      baseDir,
      folders: ['./plugins'],
      plugins: [{ plugin: './node_modules/one' }],
    });
    expect(outline(loaded)).toEqual(['tool loaded path']);
  });
});

describe('a plugin that is named more than once', () => {
  const config = { depth: 2 };

  it.each([
    ['first', { config }, {}],
    ['second', {}, { config }],
    ['both, alike', { config }, { config: { ...config } }],
  ])('is loaded once, where it is named first, as the %s configures it', async (_, first, second) => {
    const { baseDir, plugin } = createWorkspace();
    plugin('plugins/one', { manifest: { id: 'one' } });
    plugin('two', { manifest: { id: 'two' } });
    const loaded = await loadPlugins({
      baseDir,
      folders: ['plugins'],
      plugins: [{ plugin: './plugins/one', ...first }, { plugin: './two' }, { plugin: 'one', ...second }],
    });
    expect(outline(loaded)).toEqual(['one loaded path', 'two loaded path']);
    expect(loaded.get('one')?.config).toEqual(config);
  });

  it('is refused the second time if it is configured in two ways, with a report', async () => {
    const { baseDir, plugin } = createWorkspace();
    plugin('one', { manifest: { id: 'one' } });
    const loaded = await loadPlugins({
      baseDir,
      plugins: [
        { plugin: './one', config },
        { plugin: './one/.', config: {} },
      ],
    });
    expect(outline(loaded)).toEqual(['one loaded path', 'one failed path']);
    expect(loaded.errors).toMatchObject([
      { code: 'PLUGIN_DUPLICATE_ID', message: expect.stringContaining('one is configured twice') },
    ]);
    expect(loaded.get('one')?.config).toEqual(config);
  });

  it('takes its configuration from a reference that loads nothing itself', async () => {
    const { baseDir, plugin } = createWorkspace();
    plugin('one', { manifest: { id: 'one' } });
    plugin('two', { manifest: { id: 'two' } });
    const loaded = await loadPlugins({
      baseDir,
      plugins: [{ plugin: './one' }],
      configurations: [{ plugin: './one', config }, { plugin: './two', config }, { plugin: './three' }],
    });
    expect(outline(loaded)).toEqual(['one loaded path']);
    expect(loaded.get('one')?.config).toEqual(config);
  });

  it('is reported once for each reference if it is not found', async () => {
    const { baseDir } = createWorkspace();
    const loaded = await loadPlugins({ baseDir, plugins: [{ plugin: './no' }, { plugin: './no' }] });
    expect(loaded.errors.map(({ code }) => code)).toEqual(['PLUGIN_NOT_FOUND', 'PLUGIN_NOT_FOUND']);
  });
});

describe('the plugins of a folder', () => {
  it('are off and none of their code runs until the configuration names them', async () => {
    const { baseDir, plugin, write } = createWorkspace();
    plugin('plugins/one', { manifest: { id: 'one' }, entry: 'throw new Error("imported")' });
    plugin('plugins/two', { manifest: { id: 'two' } });
    write('plugins/README.md', 'no plugin');
    write('plugins/notes/README.md', 'no plugin');
    const loaded = await loadPlugins({ baseDir, folders: ['plugins'], plugins: [{ plugin: 'two' }] });
    expect(outline(loaded)).toEqual(['two loaded folder', 'one off folder']);
    const off = loaded.report.plugins[1];
    expect(off).toMatchObject({ check: 'trust' });
    expect(off?.timings).not.toHaveProperty('import');
    expect(off).not.toHaveProperty('error');
  });

  it('are listed once, also when a path names one or a folder is given twice', async () => {
    const { baseDir, plugin } = createWorkspace();
    plugin('plugins/one', { manifest: { id: 'one' } });
    plugin('plugins/two', { manifest: { id: 'two' } });
    const loaded = await loadPlugins({
      baseDir,
      folders: ['plugins', './plugins'],
      plugins: [{ plugin: './plugins/one' }],
    });
    expect(outline(loaded)).toEqual(['one loaded path', 'two off folder']);
  });

  it('are reported by the name of their folder when their manifest is broken, and by that they can be named', async () => {
    const { baseDir, write } = createWorkspace();
    write('plugins/torn/plugin.json', '{');
    const unnamed = await loadPlugins({ baseDir, folders: ['plugins'], plugins: [] });
    expect(outline(unnamed)).toEqual(['torn failed folder']);
    const named = await loadPlugins({ baseDir, folders: ['plugins'], plugins: [{ plugin: 'torn' }] });
    expect(named.report.plugins.map(({ error }) => error?.code)).toEqual(['PLUGIN_MANIFEST_UNREADABLE']);
  });

  it('a folder that is not there is reported and stops nothing', async () => {
    const { baseDir, plugin } = createWorkspace();
    plugin('one');
    const loaded = await loadPlugins({ baseDir, folders: ['absent'], plugins: [{ plugin: './one' }] });
    expect(outline(loaded)).toEqual(['tool loaded path', 'absent failed folder']);
    expect(loaded.errors[0]?.message).toMatch(/plugin folder .*absent cannot be searched/);
  });
});

describe('what is denied', () => {
  it.each([
    ['its id', 'tool'],
    ['its package name', '@acme/store'],
    ['its path', './node_modules/@acme/store'],
    ['a path above it', 'node_modules/@acme'],
  ])('by %s is not loaded, though the configuration names it', async (_, denied) => {
    const { baseDir, plugin } = createWorkspace();
    plugin('node_modules/@acme/store', { packageJson: { name: '@acme/store' }, entry: 'throw new Error()' });
    const loaded = await loadPlugins({ baseDir, plugins: [{ plugin: '@acme/store' }], deny: [denied] });
    expect(outline(loaded)).toEqual(['tool denied package']);
    expect(loaded.errors[0]?.code).toBe('PLUGIN_NOT_TRUSTED');
    expect(loaded.report.plugins[0]?.timings).not.toHaveProperty('import');
  });

  it('by path is denied through a link as well, and leaves its id to another', async () => {
    const { baseDir, plugin } = createWorkspace();
    plugin('real');
    plugin('other');
    symlinkSync(join(baseDir, 'real'), join(baseDir, 'link'));
    const loaded = await loadPlugins({
      baseDir,
      plugins: [{ plugin: './link' }, { plugin: './other' }],
      deny: ['./real'],
    });
    expect(outline(loaded)).toEqual(['tool denied path', 'tool loaded path']);
  });

  it('of a folder is reported as denied and not as off', async () => {
    const { baseDir, plugin } = createWorkspace();
    plugin('plugins/one');
    const loaded = await loadPlugins({ baseDir, folders: ['plugins'], plugins: [], deny: ['tool'] });
    expect(outline(loaded)).toEqual(['tool denied folder']);
  });
});
