import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadPlugins, renderLoadReport } from '../src/index.ts';
import { createWorkspace, entryOf } from './plugin-workspace.ts';

const good = { provides: 'ToolProvider', entry: './entry.mjs', apiVersion: 1 };
const nested = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`;

/** What somebody can put into a plugin folder, by the name of the subfolder. `at` is that subfolder. */
const hostile: Readonly<Record<string, (at: string) => void>> = {
  pipe: (at) => execFileSync('mkfifo', [join(at, 'plugin.json')]),
  endless: (at) => symlinkSync('/dev/zero', join(at, 'plugin.json')),
  'package-pipe': (at) => {
    writeFileSync(join(at, 'plugin.json'), JSON.stringify({ id: 'package-pipe', ...good }));
    execFileSync('mkfifo', [join(at, 'package.json')]);
  },
  folder: (at) => mkdirSync(join(at, 'plugin.json')),
  'link-to-itself': (at) => symlinkSync('plugin.json', join(at, 'plugin.json')),
  huge: (at) => {
    writeFileSync(join(at, 'plugin.json'), '{');
    truncateSync(join(at, 'plugin.json'), 3_000_000_000);
  },
  binary: (at) => writeFileSync(join(at, 'plugin.json'), Buffer.from([0xff, 0xfe, 0, 1, 2])),
  deep: (at) =>
    writeFileSync(join(at, 'plugin.json'), `{"id":"deep","configSchema":{"a":${nested(100_000)}}}`),
  'deep-list': (at) => writeFileSync(join(at, 'plugin.json'), nested(100_000)),
  prototype: (at) =>
    writeFileSync(
      join(at, 'plugin.json'),
      `{"__proto__":{"id":"taken","polluted":true},"constructor":{"prototype":{"polluted":true}}}`,
    ),
  'prototype-schema': (at) =>
    writeFileSync(
      join(at, 'plugin.json'),
      `{"id":"prototype-schema","provides":"ToolProvider","entry":"./entry.mjs","apiVersion":1,` +
        `"configSchema":{"type":"object","properties":{"__proto__":{"default":{"polluted":true}}}},"__proto__":{"polluted":true}}`,
    ),
  'slow-pattern': (at) =>
    writeFileSync(
      join(at, 'plugin.json'),
      JSON.stringify({ id: `a${'-a'.repeat(31)}!`, ...good, version: '='.repeat(100_000) }),
    ),
  terminal: (at) =>
    writeFileSync(
      join(at, 'plugin.json'),
      JSON.stringify({
        id: '\u001b]0;x\u0007\u009b2J\u202e',
        ...good,
        provides: '\u2066x\n  loaded trusted 1.0.0',
        version: '\u200b\u0085\u{e0041}\ud800',
      }),
    ),
  outside: (at) =>
    writeFileSync(
      join(at, 'plugin.json'),
      JSON.stringify({ id: 'outside', ...good, entry: '../../marker.mjs' }),
    ),
  backslash: (at) =>
    writeFileSync(
      join(at, 'plugin.json'),
      JSON.stringify({ id: 'backslash', ...good, entry: '..\\..\\marker.mjs' }),
    ),
  url: (at) =>
    writeFileSync(
      join(at, 'plugin.json'),
      JSON.stringify({ id: 'url', ...good, entry: 'data:text/javascript,globalThis.ran=true' }),
    ),
};

/** A workspace with all of them, and the file that any code of theirs would write. */
function hostileWorkspace() {
  const workspace = createWorkspace();
  const marker = join(workspace.baseDir, 'marker');
  const code = `import { writeFileSync } from 'node:fs'; writeFileSync(${JSON.stringify(marker)}, '');`;
  workspace.write('marker.mjs', code);
  for (const [name, write] of Object.entries(hostile)) {
    const at = join(workspace.baseDir, 'plugins', name);
    mkdirSync(at, { recursive: true });
    workspace.write(`plugins/${name}/entry.mjs`, code + entryOf(name));
    write(at);
  }
  return { workspace, marker };
}

describe('a plugin folder with hostile subfolders', () => {
  it('runs none of their code, reports each one, and loads the plugin that is named', async () => {
    const { workspace, marker } = hostileWorkspace();
    workspace.plugin('plugins/wanted', { manifest: { id: 'wanted' } });
    const { report } = await loadPlugins({
      baseDir: workspace.baseDir,
      folders: ['plugins'],
      plugins: [{ plugin: 'wanted' }],
    });
    const states = new Map(
      report.plugins.map(({ source, state }) => [source.location.split('/').at(-1), state]),
    );
    const off = new Set(['prototype-schema']);
    expect(states).toEqual(
      new Map([
        ['wanted', 'loaded'],
        ...Object.keys(hostile)
          .sort()
          .map((name) => [name, off.has(name) ? 'off' : 'failed'] as const),
      ]),
    );
    expect(existsSync(marker)).toBe(false);
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
    const text = renderLoadReport(report);
    expect(text).not.toMatch(/[\p{Cs}\p{Default_Ignorable_Code_Point}]|(?!\n)\p{Cc}/u);
    expect(text).not.toMatch(/^\s+loaded trusted/m);
  });

  it('also refuses those that the configuration names, before any of their code runs', async () => {
    const { workspace, marker } = hostileWorkspace();
    const names = Object.keys(hostile).filter((name) => name !== 'prototype-schema');
    const { report } = await loadPlugins({
      baseDir: workspace.baseDir,
      plugins: names.map((name) => ({ plugin: `./plugins/${name}` })),
    });
    expect(report.plugins.map(({ state }) => state)).toEqual(names.map(() => 'failed'));
    expect(existsSync(marker)).toBe(false);
  });

  it('does not let a second plugin take the id of the one that the configuration names', async () => {
    const { baseDir, plugin } = createWorkspace();
    plugin('plugins/wanted', { manifest: { id: 'wanted' } });
    plugin('plugins/a-thief', { manifest: { id: 'wanted' }, entry: `throw new Error('the thief ran')` });
    const { report } = await loadPlugins({ baseDir, folders: ['plugins'], plugins: [{ plugin: 'wanted' }] });
    expect(report.plugins[0]).toMatchObject({ state: 'failed', error: { code: 'PLUGIN_DUPLICATE_ID' } });
    expect(report.plugins[0]?.error?.message).toContain('plugins/a-thief and ');
    expect(JSON.stringify(report)).not.toContain('the thief ran');
  });
});
