import { existsSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { ManualClock } from '@hansard/testing';
import { describe, expect, it } from 'vitest';
import { loadPlugins } from '../src/index.ts';
import { createGate } from './gate.ts';
import { createWorkspace, creating, entryOf, toolProvider } from './plugin-workspace.ts';

const marking = (file: string, id = 'tool') => `
  import { writeFileSync } from 'node:fs';
  writeFileSync(${JSON.stringify(file)}, 'imported');
  ${entryOf(id)}`;

describe('loading', () => {
  it('gives the providers of a type in the order of the configuration, and each by its id', async () => {
    const { baseDir, plugin } = createWorkspace();
    const hook = { contract: 1, name: 'rule', decide: () => ({ decision: 'allow' }) };
    plugin('one', { manifest: { id: 'one' } });
    plugin('two', { manifest: { id: 'two', provides: 'HookProvider' } });
    plugin('three', { manifest: { id: 'three' } });
    const loaded = await loadPlugins({
      baseDir,
      plugins: [
        { plugin: './three', config: { level: 3 } },
        { plugin: './two', config: creating(() => hook) },
        { plugin: './one' },
      ],
    });
    expect(loaded.providers('ToolProvider').map(({ id, config }) => ({ id, config }))).toEqual([
      { id: 'three', config: { level: 3 } },
      { id: 'one', config: {} },
    ]);
    expect(loaded.providers('DispatchStoreProvider')).toEqual([]);
    expect(loaded.get('two')).toMatchObject({ id: 'two', type: 'HookProvider' });
    expect(loaded.get('two')?.provider).toBe(hook);
    expect(loaded.get('four')).toBeUndefined();
  });

  it('one bad plugin never stops the others', async () => {
    const { baseDir, plugin, write } = createWorkspace();
    plugin('first', { manifest: { id: 'first' } });
    write('broken/plugin.json', '{');
    plugin('throws', { manifest: { id: 'throws' }, entry: 'throw 1' });
    plugin('last', { manifest: { id: 'last' } });
    const plugins = ['./first', './broken', './throws', './last'].map((path) => ({ plugin: path }));
    const loaded = await loadPlugins({ baseDir, plugins });
    expect(loaded.report.plugins.map(({ state }) => state)).toEqual(['loaded', 'failed', 'failed', 'loaded']);
    expect(loaded.providers('ToolProvider').map(({ id }) => id)).toEqual(['first', 'last']);
  });

  it('imports one plugin after the other, each created before the next is imported', async () => {
    const { baseDir, plugin } = createWorkspace();
    const file = join(baseDir, 'imported');
    const seen: boolean[] = [];
    const look = creating(() => {
      seen.push(existsSync(file));
      return toolProvider();
    });
    plugin('first', { manifest: { id: 'first' } });
    plugin('marking', { entry: marking(file) });
    plugin('last', { manifest: { id: 'last' } });
    await loadPlugins({
      baseDir,
      plugins: [
        { plugin: './first', config: look },
        { plugin: './marking' },
        { plugin: './last', config: look },
      ],
    });
    expect(seen).toEqual([false, true]);
  });

  it.each([
    ['of a wrong configuration', { configSchema: { required: ['root'] } }],
    ['of a broken configSchema', { configSchema: { type: 'text' } }],
    ['for another version of the contracts', { apiVersion: 99 }],
    ['with a broken manifest', { provides: 'Store' }],
  ])('never runs code of a plugin %s', async (_, manifest) => {
    const { baseDir, plugin } = createWorkspace();
    const file = join(baseDir, 'imported');
    plugin('bad', { manifest, entry: marking(file) });
    plugin('good', { manifest: { id: 'good' }, entry: marking(`${file}-good`, 'good') });
    const loaded = await loadPlugins({ baseDir, plugins: [{ plugin: './bad' }, { plugin: './good' }] });
    expect(loaded.report.plugins[0]?.state).toBe('failed');
    expect(existsSync(file)).toBe(false);
    expect(existsSync(`${file}-good`)).toBe(true);
  });

  it('never runs an entry that leads out of the folder through a link', async () => {
    const { baseDir, plugin, write } = createWorkspace();
    const file = join(baseDir, 'imported');
    write('outside/entry.mjs', marking(file));
    plugin('bad', { manifest: { entry: './dist/entry.mjs' } });
    symlinkSync(join(baseDir, 'outside'), join(baseDir, 'bad/dist'));
    const loaded = await loadPlugins({ baseDir, plugins: [{ plugin: './bad' }] });
    expect(loaded.errors[0]?.message).toMatch(/leads to .*outside.*, outside its folder/);
    expect(loaded.errors[0]?.code).toBe('PLUGIN_IMPORT_FAILED');
    expect(existsSync(file)).toBe(false);
  });

  it('takes a provider type that is not known here, with any methods', async () => {
    const { baseDir, plugin } = createWorkspace();
    plugin('clock', { manifest: { id: 'clock', provides: 'ClockProvider' } });
    const loaded = await loadPlugins({
      baseDir,
      plugins: [{ plugin: './clock', config: creating(() => ({ now: () => 0 })) }],
    });
    expect(loaded.get('clock')?.type).toBe('ClockProvider');
  });

  it('keeps what a plugin threw as the cause of its error', async () => {
    const { baseDir, plugin } = createWorkspace();
    plugin('bad');
    const thrown = new Error('port taken');
    const loaded = await loadPlugins({
      baseDir,
      plugins: [{ plugin: './bad', config: creating(() => Promise.reject(thrown)) }],
    });
    expect(loaded.errors[0]?.cause).toBe(thrown);
  });

  it('gives a plugin the folder from which its relative paths start', async () => {
    const { baseDir, plugin } = createWorkspace();
    plugin('one');
    let context: unknown;
    const config = creating((given) => {
      context = given;
      return toolProvider();
    });
    await loadPlugins({ baseDir, plugins: [{ plugin: './one', config }] });
    expect(context).toMatchObject({ baseDir, signal: { aborted: false } });
  });

  it('refuses a time limit that no timer can keep', async () => {
    for (const createTimeoutMs of [0, -1, 1.5, Number.POSITIVE_INFINITY, 2 ** 31]) {
      await expect(loadPlugins({ baseDir: '.', plugins: [], createTimeoutMs })).rejects.toThrow(TypeError);
      const plugins = [{ plugin: './one', createTimeoutMs }];
      await expect(loadPlugins({ baseDir: '.', plugins })).rejects.toThrow(TypeError);
      await expect(loadPlugins({ baseDir: '.', plugins: [], configurations: plugins })).rejects.toThrow(
        TypeError,
      );
    }
  });
});

describe('the source of a plugin under development', () => {
  it('is what runs in place of its entry, built or not, while the loader itself runs from source', async () => {
    const { baseDir, plugin, write } = createWorkspace();
    const exports = { '.': { '@hansard/source': './src/index.mjs', default: './dist/index.js' } };
    plugin('linked', { manifest: { entry: './dist/index.js' }, packageJson: { name: 'dev', exports } });
    write('linked/src/index.mjs', entryOf('tool'));
    mkdirSync(join(baseDir, 'node_modules'));
    symlinkSync(join(baseDir, 'linked'), join(baseDir, 'node_modules/dev'));
    const loaded = await loadPlugins({ baseDir, plugins: [{ plugin: 'dev' }] });
    expect(loaded.report.plugins[0]?.state).toBe('loaded');
  });
});

describe('the time limit', () => {
  it('aborts the signal of a plugin that takes too long, and continues with the next', async () => {
    const { baseDir, plugin } = createWorkspace();
    plugin('slow', { manifest: { id: 'slow' } });
    plugin('next', { manifest: { id: 'next' } });
    const clock = new ManualClock();
    let reason: unknown;
    const never = creating(
      ({ signal }) =>
        new Promise((_, reject) => {
          signal.addEventListener('abort', () => {
            reason = signal.reason;
            reject(signal.reason);
          });
        }),
    );
    const loading = loadPlugins({
      baseDir,
      clock,
      createTimeoutMs: 50,
      plugins: [{ plugin: './slow', config: never }, { plugin: './next' }],
    });
    await clock.timersSet(2);
    clock.advance(49);
    expect(reason).toBeUndefined();
    clock.advance(1);
    const loaded = await loading;
    expect(reason).toMatchObject({ code: 'PLUGIN_CREATE_TIMEOUT' });
    expect(loaded.report.plugins).toMatchObject([
      { id: 'slow', state: 'failed', error: { code: 'PLUGIN_CREATE_TIMEOUT' }, timings: { create: 50 } },
      { id: 'next', state: 'loaded' },
    ]);
    expect(clock.timers).toBe(0);
  });

  it('of a plugin counts for that plugin only, and its error names the plugin and the option', async () => {
    const { baseDir, plugin } = createWorkspace();
    for (const id of ['patient', 'other']) plugin(id, { manifest: { id } });
    const clock = new ManualClock();
    const config = creating(() => new Promise(() => undefined));
    const loading = loadPlugins({
      baseDir,
      clock,
      plugins: [
        { plugin: './patient', config, createTimeoutMs: 60_000 },
        { plugin: './other', config },
      ],
    });
    await clock.timersSet(2);
    clock.advance(59_999);
    expect(clock.timers).toBe(1);
    clock.advance(1);
    await clock.timersSet(4);
    clock.advance(10_000);
    expect((await loading).errors.map(({ code, message }) => [code, message])).toEqual([
      [
        'PLUGIN_CREATE_TIMEOUT',
        'Plugin patient did not create its provider within 60000 ms (createTimeoutMs).',
      ],
      [
        'PLUGIN_CREATE_TIMEOUT',
        'Plugin other did not create its provider within 10000 ms (createTimeoutMs).',
      ],
    ]);
  });

  it.each([
    ['its only reference with a limit', [{ plugin: './slow' }], [{ plugin: './slow', createTimeoutMs: 40 }]],
    [
      'the first of two',
      [{ plugin: './slow', createTimeoutMs: 40 }],
      [{ plugin: './slow', createTimeoutMs: 90_000 }],
    ],
  ])('of a plugin is that of %s', async (_, plugins, configurations) => {
    const { baseDir, plugin } = createWorkspace();
    plugin('slow', { entry: 'await new Promise(() => {})' });
    const clock = new ManualClock();
    const loading = loadPlugins({ baseDir, clock, plugins, configurations });
    await clock.timersSet(1);
    clock.advance(40);
    expect((await loading).errors).toMatchObject([{ code: 'PLUGIN_IMPORT_FAILED' }]);
  });

  it('closes a provider that arrives too late, and nobody gets it', async () => {
    const { baseDir, plugin } = createWorkspace();
    plugin('slow');
    const clock = new ManualClock();
    const provider = createGate<unknown>();
    const closed = createGate<string>();
    const loading = loadPlugins({
      baseDir,
      clock,
      plugins: [{ plugin: './slow', config: creating(() => provider.opened) }],
    });
    await clock.timersSet(2);
    clock.advance(10_000);
    const loaded = await loading;
    provider.open(toolProvider(() => closed.open('closed')));
    await expect(closed.opened).resolves.toBe('closed');
    expect(loaded.providers('ToolProvider')).toEqual([]);
  });

  it('also holds for an import that never ends', async () => {
    const { baseDir, plugin } = createWorkspace();
    plugin('stuck', { entry: 'await new Promise(() => {})' });
    plugin('next', { manifest: { id: 'next' } });
    const clock = new ManualClock();
    const loading = loadPlugins({ baseDir, clock, plugins: [{ plugin: './stuck' }, { plugin: './next' }] });
    await clock.timersSet(1);
    clock.advance(10_000);
    const loaded = await loading;
    expect(loaded.report.plugins.map(({ state }) => state)).toEqual(['failed', 'loaded']);
    expect(loaded.errors[0]?.message).toMatch(/did not run to its end within 10000 ms/);
  });
});
