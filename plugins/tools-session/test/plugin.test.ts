import { readFileSync } from 'node:fs';
import { contractVersion, requiredMethods } from '@hansard/provider';
import { expect, it } from 'vitest';
import plugin from '../src/index.ts';
import { call, tools } from './call.ts';
import { fakeHost } from './fake-host.ts';

const manifest = JSON.parse(readFileSync(new URL('../plugin.json', import.meta.url), 'utf8'));

it('is the plugin that its manifest describes', async () => {
  expect(manifest).toMatchObject({
    id: plugin.id,
    provides: plugin.provides,
    entry: './dist/index.js',
    apiVersion: contractVersion,
    configSchema: { additionalProperties: false },
  });
  const provider = await plugin.create({}, { baseDir: '/', signal: new AbortController().signal });
  expect(requiredMethods.ToolProvider.filter((name) => !(name in provider))).toEqual([]);
});

it('shows a model what each tool takes, every field described', async () => {
  const definitions = await tools.listTools();
  expect(definitions.map(({ name }) => name)).toEqual(['task', 'discuss', 'tell']);
  expect(definitions.map(({ inputSchema }) => inputSchema)).toMatchObject([
    { type: 'object', required: ['name', 'system_prompt'], additionalProperties: false },
    { type: 'object', required: ['speakers'], additionalProperties: false },
    { type: 'object', required: ['to', 'text'], additionalProperties: false },
  ]);
  for (const { inputSchema } of definitions)
    for (const [field, schema] of Object.entries(inputSchema.properties ?? {}))
      expect(schema, field).toHaveProperty('description');
});

it('says so when it is called outside of a session', async () => {
  expect(await call('tell', { to: 'Jill', text: 'Psst.' })).toEqual({
    status: 'error',
    text: 'tell works with the agents of a session, and this call does not come from one.',
  });
});

it('takes a call of a tool that it never listed for a programming error', async () => {
  await expect(call('shout', {}, fakeHost([]))).rejects.toThrow(TypeError);
});
