import { ManualClock } from '@hansard/testing';
import { describe, expect, it } from 'vitest';
import { loadPlugins, renderLoadReport, type ServerReport } from '../src/index.ts';
import { createWorkspace, creating, toolProvider } from './plugin-workspace.ts';

describe('the report as text', () => {
  it('shows each plugin with its state, source and timings, or what to do about it', async () => {
    const { baseDir, plugin, write } = createWorkspace();
    const clock = new ManualClock();
    plugin('node_modules/@acme/tool', { packageJson: { name: '@acme/tool', version: '1.0.0' } });
    plugin('plugins/spare', { manifest: { id: 'spare' } });
    plugin('plugins/forbidden', { manifest: { id: 'forbidden' } });
    write('broken/plugin.json', '[]');
    const slow = creating(() => {
      clock.advance(12.34);
      return toolProvider();
    });
    const { report } = await loadPlugins({
      baseDir,
      clock,
      folders: ['plugins'],
      plugins: [{ plugin: '@acme/tool', config: slow }, { plugin: './broken' }],
      deny: ['forbidden'],
    });
    expect(renderLoadReport(report).replaceAll(baseDir, '/base')).toBe(`\
Plugins: 1 loaded, 1 failed, 1 denied, 1 off (12.3 ms)
  loaded tool 1.0.0 ToolProvider
         package /base/node_modules/@acme/tool
         took 12.3 ms (create 12.3)
  failed ./broken
         path /base/broken
         validate: PLUGIN_MANIFEST_INVALID /base/broken/plugin.json is not a valid manifest: (value) is []: Invalid input: expected object, received array
  denied forbidden ToolProvider
         folder /base/plugins/forbidden
         trust: PLUGIN_NOT_TRUSTED Plugin forbidden is not loaded: the configuration denies forbidden.
  off    spare ToolProvider
         folder /base/plugins/spare
         name it in the configuration to load it`);
    expect(JSON.parse(JSON.stringify(report))).toEqual(report);
  });

  it('shows the server of a store that was asked, or why it did not answer', () => {
    const entry = {
      id: 's',
      source: { kind: 'path', location: '/s' },
      state: 'loaded',
      timings: {},
    } as const;
    const render = (server: ServerReport) =>
      renderLoadReport({ plugins: [{ ...entry, server }], totalMs: 1 });
    expect(render({ name: 'db:5432/a', version: 'PostgreSQL 18.4', latencyMs: 1.26 })).toContain(
      '\n         server db:5432/a: PostgreSQL 18.4, answered in 1.3 ms\n',
    );
    const error = { code: 'STORE_UNAVAILABLE', message: 'The database is\naway.' };
    expect(render({ error })).toContain('\n         server: STORE_UNAVAILABLE The database is away.\n');
  });

  it('says so when there are no plugins', () => {
    expect(renderLoadReport({ plugins: [], totalMs: 0 })).toBe('Plugins: none (0.0 ms)');
  });

  it('lets no manifest steer the terminal or forge a line', async () => {
    const { baseDir, plugin } = createWorkspace();
    plugin('plugins/spare', { manifest: { version: '1\u001b[2J\n  loaded fake\u202e\u009b0m' } });
    const { report } = await loadPlugins({ baseDir, folders: ['plugins'], plugins: [] });
    const text = renderLoadReport(report);
    expect(text).not.toMatch(/[\p{Bidi_Control}]|(?!\n)\p{Cc}/u);
    expect(text.split('\n')).toHaveLength(4);
  });
});
