import { type PluginError, pluginErrors } from '@hansard/provider';
import { ManualClock } from '@hansard/testing';
import { describe, expect, it } from 'vitest';
import { loadPlugins } from '../src/index.ts';
import type { LoadPluginsOptions } from '../src/load-plugins.ts';
import { type LoadCheck, loadChecks } from '../src/load-report.ts';
import { createWorkspace, creating, type PluginWorkspace, toolProvider } from './plugin-workspace.ts';

interface Case {
  readonly name: string;
  readonly code: PluginError['code'];
  readonly check: LoadCheck;
  /** Writes what is wrong with `./bad`, and may add options. */
  readonly arrange: (workspace: PluginWorkspace) => Partial<LoadPluginsOptions> | undefined;
  readonly says: RegExp;
}

const codeAtClose: PluginError['code'] = 'PLUGIN_CLOSE_FAILED';

const bad = (config: unknown): Pick<LoadPluginsOptions, 'plugins'> => ({
  plugins: [{ plugin: './bad', config }],
});

const cases: readonly Case[] = [
  {
    name: 'a path without a plugin.json',
    code: 'PLUGIN_NOT_FOUND',
    check: 'find',
    arrange: () => undefined,
    says: /\.\/bad was not found: .*bad has no plugin\.json/,
  },
  {
    name: 'a package that is not installed',
    code: 'PLUGIN_NOT_FOUND',
    check: 'find',
    arrange: () => ({ plugins: [{ plugin: '@nobody/nothing' }] }),
    says: /no such package is installed/,
  },
  {
    name: 'a package that is not a plugin',
    code: 'PLUGIN_NOT_FOUND',
    check: 'find',
    arrange: ({ write }) => {
      write('node_modules/plain/package.json', { name: 'plain' });
      return { plugins: [{ plugin: 'plain' }] };
    },
    says: /has no plugin\.json, so it is not a plugin/,
  },
  {
    name: 'a reference that is neither package name nor path',
    code: 'PLUGIN_NOT_FOUND',
    check: 'find',
    arrange: () => ({ plugins: [{ plugin: 'node:fs' }] }),
    says: /node:fs was not found/,
  },
  {
    name: 'a manifest that is not JSON',
    code: 'PLUGIN_MANIFEST_UNREADABLE',
    check: 'read',
    arrange: ({ write }) => void write('bad/plugin.json', '{ "id": '),
    says: /bad.plugin\.json cannot be read as JSON/,
  },
  {
    name: 'a package.json that is not JSON',
    code: 'PLUGIN_MANIFEST_UNREADABLE',
    check: 'read',
    arrange: ({ plugin, write }) => {
      plugin('bad');
      write('bad/package.json', 'nothing');
      return undefined;
    },
    says: /bad.package\.json cannot be read as JSON/,
  },
  {
    name: 'a package.json that is a list',
    code: 'PLUGIN_MANIFEST_UNREADABLE',
    check: 'read',
    arrange: ({ plugin, write }) => {
      plugin('bad');
      write('bad/package.json', '[]');
      return undefined;
    },
    says: /bad.package\.json must contain a JSON object/,
  },
  {
    name: 'an id that is not kebab case',
    code: 'PLUGIN_MANIFEST_INVALID',
    check: 'validate',
    arrange: ({ plugin }) => void plugin('bad', { manifest: { id: '../Tool' } }),
    says: /id is "\.\.\/Tool": must be lower kebab case/,
  },
  {
    name: 'an entry that leaves the folder by its name',
    code: 'PLUGIN_MANIFEST_INVALID',
    check: 'validate',
    arrange: ({ plugin }) => void plugin('bad', { manifest: { entry: './dist/../../entry.mjs' } }),
    says: /entry is .*stays inside the folder/,
  },
  {
    name: 'a manifest that is a list',
    code: 'PLUGIN_MANIFEST_INVALID',
    check: 'validate',
    arrange: ({ write }) => void write('bad/plugin.json', '[]'),
    says: /is not a valid manifest: \(value\) is \[\]/,
  },
  {
    name: 'a manifest for another version of the contracts',
    code: 'PLUGIN_API_VERSION',
    check: 'api version',
    arrange: ({ plugin }) => void plugin('bad', { manifest: { apiVersion: 2 } }),
    says: /version 2 of the Hansard contracts, and this is version 1\. Update Hansard\./,
  },
  {
    name: 'a second plugin with the same id',
    code: 'PLUGIN_DUPLICATE_ID',
    check: 'duplicate id',
    arrange: ({ plugin }) => {
      plugin('good');
      plugin('bad');
      return { plugins: [{ plugin: './good' }, { plugin: './bad' }] };
    },
    says: /Another plugin has the id tool, from .*good/,
  },
  {
    name: 'a plugin that is denied',
    code: 'PLUGIN_NOT_TRUSTED',
    check: 'trust',
    arrange: ({ plugin }) => {
      plugin('bad');
      return { deny: ['tool'] };
    },
    says: /the configuration denies tool/,
  },
  {
    name: 'a configSchema that is not a JSON Schema',
    code: 'PLUGIN_CONFIG_SCHEMA_INVALID',
    check: 'configuration',
    arrange: ({ plugin }) => void plugin('bad', { manifest: { configSchema: { type: 'text' } } }),
    says: /configSchema of plugin tool/,
  },
  {
    name: 'a configSchema with a keyword that is not there',
    code: 'PLUGIN_CONFIG_SCHEMA_INVALID',
    check: 'configuration',
    arrange: ({ plugin }) => void plugin('bad', { manifest: { configSchema: { requird: ['root'] } } }),
    says: /requird/,
  },
  {
    name: 'a configSchema whose answer would be a promise',
    code: 'PLUGIN_CONFIG_SCHEMA_INVALID',
    check: 'configuration',
    arrange: ({ plugin }) => void plugin('bad', { manifest: { configSchema: { $async: true } } }),
    says: /\$async/,
  },
  {
    name: 'a configuration that is not as the schema says',
    code: 'PLUGIN_CONFIG_INVALID',
    check: 'configuration',
    arrange: ({ plugin }) => {
      const configSchema = { type: 'object', properties: { root: { type: 'string' } } };
      plugin('bad', { manifest: { configSchema } });
      return bad({ root: 7 });
    },
    says: /configuration of plugin tool is not valid: config\.root is 7: must be string/,
  },
  {
    name: 'an entry that is not there',
    code: 'PLUGIN_IMPORT_FAILED',
    check: 'import',
    arrange: ({ plugin }) => void plugin('bad', { manifest: { entry: './dist/index.js' } }),
    says: /\.\/dist\/index\.js .*ENOENT/,
  },
  {
    name: 'an entry that throws',
    code: 'PLUGIN_IMPORT_FAILED',
    check: 'import',
    arrange: ({ plugin }) => void plugin('bad', { entry: 'throw new Error("no driver here")' }),
    says: /no driver here/,
  },
  {
    name: 'an entry without a default export',
    code: 'PLUGIN_EXPORT_MISMATCH',
    check: 'export',
    arrange: ({ plugin }) => void plugin('bad', { entry: 'export const tool = 1;' }),
    says: /no default export/,
  },
  {
    name: 'an export with another id',
    code: 'PLUGIN_EXPORT_MISMATCH',
    check: 'export',
    arrange: ({ plugin }) =>
      void plugin('bad', { entry: 'export default { id: "other", provides: "ToolProvider", create() {} }' }),
    says: /the id of its export is other/,
  },
  {
    name: 'an export that provides something else',
    code: 'PLUGIN_EXPORT_MISMATCH',
    check: 'export',
    arrange: ({ plugin }) =>
      void plugin('bad', { entry: 'export default { id: "tool", provides: "HookProvider", create() {} }' }),
    says: /provides HookProvider, and the manifest says ToolProvider/,
  },
  {
    name: 'an export without create',
    code: 'PLUGIN_EXPORT_MISMATCH',
    check: 'export',
    arrange: ({ plugin }) =>
      void plugin('bad', { entry: 'export default { id: "tool", provides: "ToolProvider" }' }),
    says: /no create function/,
  },
  {
    name: 'a create that throws what is no error',
    code: 'PLUGIN_CREATE_FAILED',
    check: 'create',
    arrange: ({ plugin }) => {
      plugin('bad');
      return bad(creating(() => Promise.reject('port taken')));
    },
    says: /could not create its provider: port taken/,
  },
  {
    name: 'a create that gives nothing',
    code: 'PLUGIN_CREATE_FAILED',
    check: 'create',
    arrange: ({ plugin }) => {
      plugin('bad');
      return bad(creating(() => null));
    },
    says: /created null, which is not a provider/,
  },
  {
    name: 'a create that takes too long',
    code: 'PLUGIN_CREATE_TIMEOUT',
    check: 'create',
    arrange: ({ plugin }) => {
      plugin('bad');
      const clock = new ManualClock();
      return {
        clock,
        ...bad(
          creating(async () => {
            await clock.timersSet(2);
            clock.advance(10_000);
            return toolProvider();
          }),
        ),
      };
    },
    says: /within 10000 ms/,
  },
  {
    name: 'a provider without a contract version',
    code: 'PLUGIN_API_VERSION',
    check: 'contract',
    arrange: ({ plugin }) => {
      plugin('bad');
      return bad(creating(() => ({ ...toolProvider(), contract: undefined })));
    },
    says: /provider of plugin tool has no `contract`\. This Hansard supports version 1 .* add `contract: 1`/,
  },
  {
    name: 'a provider for a newer version of the contracts',
    code: 'PLUGIN_API_VERSION',
    check: 'contract',
    arrange: ({ plugin }) => {
      plugin('bad');
      return bad(creating(() => ({ ...toolProvider(), contract: 2 })));
    },
    says: /has `contract: 2`\. This Hansard supports version 1 of the contracts\. Update Hansard\./,
  },
  {
    name: 'a provider whose contract version is a text',
    code: 'PLUGIN_API_VERSION',
    check: 'contract',
    arrange: ({ plugin }) => {
      plugin('bad');
      return bad(creating(() => ({ ...toolProvider(), contract: '1' })));
    },
    says: /that is not a whole number: "1"\. .*must write `contract: 1`/,
  },
  {
    name: 'a provider without the methods of its type',
    code: 'PLUGIN_METHOD_MISSING',
    check: 'methods',
    arrange: ({ plugin }) => {
      plugin('bad');
      return bad(creating(() => ({ contract: 1, listTools: () => [] })));
    },
    says: /does not implement ToolProvider\. It has no callTool/,
  },
  {
    name: 'a hook that neither decides nor observes',
    code: 'PLUGIN_METHOD_MISSING',
    check: 'methods',
    arrange: ({ plugin }) => {
      plugin('bad', { manifest: { provides: 'HookProvider' } });
      return bad(creating(() => ({ contract: 1, name: 'idle' })));
    },
    says: /does not implement HookProvider\. It has no decide or observe/,
  },
];

describe('each check stops a bad plugin with its own code', () => {
  it.each(cases)('$name: $code', async ({ code, check, arrange, says }) => {
    const workspace = createWorkspace();
    const options = arrange(workspace);
    const loaded = await loadPlugins({
      baseDir: workspace.baseDir,
      plugins: [{ plugin: './bad' }],
      ...options,
    });
    const entry = loaded.report.plugins.at(-1);
    expect(entry).toMatchObject({ check, error: { code } });
    expect(entry?.error?.message).toMatch(says);
    expect(entry?.state).toBe(code === 'PLUGIN_NOT_TRUSTED' ? 'denied' : 'failed');
    expect(loaded.errors.map((error) => error.code)).toEqual([code]);
  });

  it('a close that throws: PLUGIN_CLOSE_FAILED', async () => {
    const { baseDir, plugin } = createWorkspace();
    plugin('bad');
    const close = () => Promise.reject(new Error('still busy'));
    const loaded = await loadPlugins({ baseDir, ...bad(creating(() => toolProvider(close))) });
    await expect(loaded.close()).rejects.toMatchObject({ errors: [{ code: codeAtClose }] });
  });

  it('there is a case for every code and for every check', () => {
    const codes = new Set([...cases.map(({ code }) => code), codeAtClose]);
    expect(codes).toEqual(new Set(Object.keys(pluginErrors.rows)));
    expect(new Set(cases.map(({ check }) => check))).toEqual(new Set(Object.keys(loadChecks)));
  });
});
