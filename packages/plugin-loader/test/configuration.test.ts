import { describe, expect, it } from 'vitest';
import { loadPlugins } from '../src/index.ts';
import { createWorkspace } from './plugin-workspace.ts';

async function load(configSchema: Readonly<Record<string, unknown>>, config?: unknown) {
  const { baseDir, plugin } = createWorkspace();
  plugin('one', { manifest: { configSchema } });
  const loaded = await loadPlugins({ baseDir, plugins: [{ plugin: './one', config }] });
  return { config: loaded.get('tool')?.config, error: loaded.errors[0] };
}

const schema = {
  type: 'object',
  additionalProperties: false,
  required: ['root'],
  properties: {
    root: { type: 'string', default: '.projects', format: 'anything' },
    mode: { enum: ['fast', 'safe'] },
    apiKey: { type: 'string', minLength: 20 },
    server: {
      type: 'object',
      required: ['host'],
      properties: { url: { type: 'string', pattern: '^https' } },
    },
    lines: { type: 'array', items: { type: 'integer' } },
  },
};

describe('the configuration of a plugin', () => {
  it('arrives with the defaults of the schema, and what the caller holds stays as it was', async () => {
    const mine = { mode: 'fast' };
    const { config } = await load(schema, mine);
    expect(config).toEqual({ root: '.projects', mode: 'fast' });
    expect(mine).toEqual({ mode: 'fast' });
    expect((await load(schema)).config).toEqual({ root: '.projects' });
  });

  it('that is wrong has every problem reported: path, value and the allowed values', async () => {
    const { error } = await load(schema, {
      root: 7,
      mode: 'quick',
      lines: [1, 'two'],
      extra: true,
      server: {},
    });
    expect(error?.details.issues).toEqual([
      { path: 'config.extra', value: 'true', message: 'must NOT have additional properties' },
      { path: 'config.root', value: '7', message: 'must be string' },
      {
        path: 'config.mode',
        value: '"quick"',
        message: 'must be equal to one of the allowed values: ["fast","safe"]',
      },
      { path: 'config.server.host', value: 'missing', message: "must have required property 'host'" },
      { path: 'config.lines.1', value: '"two"', message: 'must be integer' },
    ]);
  });

  it('that has a mistyped key is reported with the key that was meant', async () => {
    const { error } = await load(
      {
        type: 'object',
        properties: { server: { ...schema.properties.server, additionalProperties: false } },
      },
      { server: { host: 'a', urll: 'https://b' } },
    );
    expect(error?.details.issues).toEqual([
      {
        path: 'config.server.host',
        value: '"a"',
        message: 'must NOT have additional properties',
      },
      {
        path: 'config.server.urll',
        value: '"https://b"',
        message: 'must NOT have additional properties; did you mean "url"?',
      },
    ]);
  });

  it.each([
    ['the value of a key that looks like one', { apiKey: 'sk-hush' }, schema],
    [
      'what lies below such a key',
      { credentials: { user: 'hush' } },
      { properties: { credentials: { properties: { user: { type: 'number' } } } } },
    ],
    ['what a wrong object holds', { password: 'hush', nested: { authToken: 'hush' } }, { type: 'string' }],
    ['the password of a URL', { server: { host: 'a', url: 'postgres://me:hush@db/x' } }, schema],
  ])('that is wrong never shows a secret: %s', async (_, config, configSchema) => {
    const { error } = await load(configSchema, config);
    expect(error?.code).toBe('PLUGIN_CONFIG_INVALID');
    expect(error?.message).toContain('(hidden)');
    expect(JSON.stringify([error?.message, error?.details, error?.cause])).not.toContain('hush');
  });

  it('may use an $id that another plugin uses too', async () => {
    const { baseDir, plugin } = createWorkspace();
    for (const [id, type] of [
      ['one', 'integer'],
      ['two', 'string'],
    ])
      plugin(`${id}`, {
        manifest: { id, configSchema: { $id: 'https://acme.test/config', properties: { a: { type } } } },
      });
    const loaded = await loadPlugins({
      baseDir,
      plugins: [
        { plugin: './one', config: { a: 1 } },
        { plugin: './two', config: { a: 'x' } },
      ],
    });
    expect(loaded.errors).toEqual([]);
  });

  it('that JSON cannot hold is refused where there is a schema', async () => {
    const { error } = await load({}, { started: new Date(0) });
    expect(error?.details.issues).toEqual([
      { path: 'config.started', value: '[object Date]', message: 'must be a value that JSON can hold' },
    ]);
  });
});
