import { readFileSync } from 'node:fs';
import { contractVersion, requiredMethods } from '@hansard/provider';
import { expect, it } from 'vitest';
import plugin, { createDispatchTools } from '../src/index.ts';

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
  const definitions = await createDispatchTools().listTools();
  expect(definitions.map(({ name }) => name)).toEqual([
    'dispatch_agent',
    'check_dispatch',
    'await_dispatch',
    'abort_dispatch',
    'message_dispatch',
  ]);
  expect(definitions.map(({ inputSchema }) => inputSchema)).toMatchObject([
    { type: 'object', required: ['role', 'prompt'], additionalProperties: false },
    { type: 'object', required: ['dispatch_id'], additionalProperties: false },
    { type: 'object', required: ['dispatch_ids'], additionalProperties: false },
    { type: 'object', required: ['dispatch_id'], additionalProperties: false },
    { type: 'object', required: ['to', 'text'], additionalProperties: false },
  ]);
  for (const { inputSchema } of definitions)
    for (const [field, schema] of Object.entries(inputSchema.properties ?? {}))
      expect(schema, field).toHaveProperty('description');
});

it('takes a call of a tool that it never listed for a programming error', async () => {
  const call = { taskDir: 't', dispatchId: 'd', toolCallId: 'c', tool: 'shout', input: {} };
  const { signal } = new AbortController();
  const calling = createDispatchTools().callTool({ ...call, signal, observe: async () => 'o' });
  await expect(calling).rejects.toThrow(TypeError);
});
