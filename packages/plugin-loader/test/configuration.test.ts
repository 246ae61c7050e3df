import { describe, expect, it } from 'vitest';
import { fillPlainConfiguration } from '../src/checks/check-configuration.ts';
import { checkByJsonSchema } from '../src/checks/json-schema-check.ts';
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

describe('a plain configuration', () => {
  const values = [undefined, '', 'a', 'fast', '😀', 0, -1, 1, 1.5, true, false, null, [], {}, 'toString'];
  const fields = [
    { type: 'string' },
    { type: 'string', minLength: 1, default: 'a' },
    { type: 'string', minLength: 2 },
    { type: 'string', enum: ['fast', 'safe'], default: 'fast' },
    { enum: ['fast', 'safe'], default: 'slow' },
    { type: 'number', minimum: 0, default: 0, description: 'x' },
    { type: 'integer', minimum: 1, title: 'x' },
    { type: 'boolean', default: true },
    { default: 1 },
    { type: 'string', minimum: 3, minLength: 0 },
  ];
  const answer = (check: () => unknown) => {
    try {
      return check();
    } catch (error) {
      return (error as { code?: string }).code;
    }
  };

  it('is filled as the JSON Schema library fills it, and never refused by itself', () => {
    let plain = 0;
    for (const field of fields)
      for (const more of [{}, { additionalProperties: false }])
        for (const value of values)
          for (const key of ['one', 'other', 'constructor', '__proto__']) {
            const configSchema = { type: 'object', properties: { one: field }, ...more };
            const config = JSON.parse(JSON.stringify({ [key]: value })) as unknown;
            const filled = fillPlainConfiguration(configSchema, config);
            const expected = answer(() => checkByJsonSchema('p', configSchema, config));
            if (filled === null) continue;
            plain += 1;
            expect([field, config, filled]).toEqual([field, config, expected]);
          }
    expect(plain).toBeGreaterThan(300);
  });

  it.each<Record<string, unknown>>([
    { type: 'object', properties: { a: { type: 'text' } } },
    { type: 'object', properties: { a: { type: 'string', pattern: '^a' } } },
    { type: 'object', properties: { a: { enum: [] } } },
    { type: 'object', properties: { a: { type: 'string', minLength: -1 } } },
    { type: 'object', properties: { a: { type: 'string', default: [] } } },
    { type: 'object', properties: { toString: { type: 'string' } } },
    { type: 'object', properties: { a: true } },
    { type: 'object', required: ['a'] },
    { type: 'object', additionalProperties: true },
    { type: 'object', $schema: 'https://json-schema.org/draft-07/schema' },
    { type: 'object', description: 1 },
    { properties: {} },
  ])('has a plain schema; the library decides on %j', (configSchema) => {
    expect(fillPlainConfiguration(configSchema, {})).toBeNull();
  });

  it('holds only JSON, and what the caller holds stays as it was', () => {
    const configSchema = { type: 'object', properties: { a: { default: 1 } } };
    const mine = {};
    expect(fillPlainConfiguration(configSchema, mine)).toEqual({ a: 1 });
    expect(mine).toEqual({});
    for (const config of [{ b: Number.NaN }, new Date(0), [], 'a', null])
      expect(fillPlainConfiguration(configSchema, config)).toBeNull();
  });
});
